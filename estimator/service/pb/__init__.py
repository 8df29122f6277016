"""The messages and services of the estimator: `*.proto` is the source, `*_pb2*` is generated from it by `make proto`.

The generator is pinned low on purpose (see PROTO_TOOLS in the Makefile): generated code runs with its own and every
newer protobuf, never with an older one.
"""
