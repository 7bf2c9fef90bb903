"""Every contract between the services: topics, envelope, typed commands and events, codec."""

from spades_events.codec import (
    CE_TYPES,
    Codec,
    MalformedBody,
    UndecodableMessage,
    UnknownType,
    ce_type_of,
    decode,
    encode,
    frame_name,
)
from spades_events.envelope import Envelope, Headers, MissingAttribute, envelope_of, headers_of
from spades_events.topics import PARTITIONS_LOCAL, SPECS, Topic, TopicSpec
from spades_events.values import (
    BOT_ACCOUNT,
    OPERATOR_PREFIX,
    BidValue,
    CardName,
    DeadlineKind,
    RulesetChoice,
    SeatHolder,
    SeatNo,
    TableKind,
    TurnKind,
)

__all__ = [
    "BOT_ACCOUNT",
    "CE_TYPES",
    "OPERATOR_PREFIX",
    "PARTITIONS_LOCAL",
    "SPECS",
    "BidValue",
    "CardName",
    "Codec",
    "DeadlineKind",
    "Envelope",
    "Headers",
    "MalformedBody",
    "MissingAttribute",
    "RulesetChoice",
    "SeatHolder",
    "SeatNo",
    "TableKind",
    "Topic",
    "TopicSpec",
    "TurnKind",
    "UndecodableMessage",
    "UnknownType",
    "ce_type_of",
    "decode",
    "encode",
    "envelope_of",
    "frame_name",
    "headers_of",
]
