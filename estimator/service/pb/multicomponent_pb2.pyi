from estimator.service.pb import estimator_pb2 as _estimator_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Component(_message.Message):
    __slots__ = ("name", "replicaRequirements", "replicas")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REPLICAREQUIREMENTS_FIELD_NUMBER: _ClassVar[int]
    REPLICAS_FIELD_NUMBER: _ClassVar[int]
    name: str
    replicaRequirements: _estimator_pb2.ReplicaRequirements
    replicas: int
    def __init__(self, name: _Optional[str] = ..., replicaRequirements: _Optional[_Union[_estimator_pb2.ReplicaRequirements, _Mapping]] = ..., replicas: _Optional[int] = ...) -> None: ...

class MaxAvailableComponentSetsRequest(_message.Message):
    __slots__ = ("cluster", "components")
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    cluster: str
    components: _containers.RepeatedCompositeFieldContainer[Component]
    def __init__(self, cluster: _Optional[str] = ..., components: _Optional[_Iterable[_Union[Component, _Mapping]]] = ...) -> None: ...

class MaxAvailableComponentSetsResponse(_message.Message):
    __slots__ = ("maxSets",)
    MAXSETS_FIELD_NUMBER: _ClassVar[int]
    maxSets: int
    def __init__(self, maxSets: _Optional[int] = ...) -> None: ...
