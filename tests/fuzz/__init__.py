"""Readers of hostile input against whatever a coverage-guided fuzzer finds: `make fuzz`, and its finds as a test."""
