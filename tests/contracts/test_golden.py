"""A stored name is a contract: what was once written is read for ever."""

import json

import msgspec
import pytest
from jsonschema import Draft202012Validator

from spades_events import CE_TYPES, decode, encode
from spades_events.codec import UPCASTERS
from spades_events.schemas import FOLDER as SCHEMAS
from spades_events.schemas import schema_name, schema_text
from tests.contracts.golden import FOLDER, Sample, golden_samples

SAMPLES = list(golden_samples())
BY_TYPE = pytest.mark.parametrize(("cls", "ce_type"), CE_TYPES.items(), ids=lambda value: str(value).split(".")[-1])
BY_SAMPLE = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.ce_type)


@BY_SAMPLE
def test_a_golden_sample_is_decoded_and_encoded_to_the_same_bytes(sample: Sample) -> None:
    message = decode(sample.ce_type, sample.body)
    if sample.ce_type in UPCASTERS:
        assert CE_TYPES[type(message)] != sample.ce_type
    else:
        assert CE_TYPES[type(message)] == sample.ce_type
        assert encode(message) == sample.body


@BY_SAMPLE
def test_a_golden_sample_fits_its_schema(sample: Sample) -> None:
    schema = json.loads((SCHEMAS / schema_name(sample.ce_type)).read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(sample.body))


@BY_SAMPLE
def test_a_sample_without_any_one_of_its_needed_fields_is_refused_by_the_schema(sample: Sample) -> None:
    schema = json.loads((SCHEMAS / schema_name(sample.ce_type)).read_text("utf-8"))
    needed = schema["$defs"][schema["$ref"].rsplit("/", 1)[1]].get("required", [])
    for field in needed:
        body = json.loads(sample.body)
        del body[field]
        assert not Draft202012Validator(schema).is_valid(body), field


@BY_TYPE
def test_every_message_type_has_a_golden_sample(cls: type[msgspec.Struct], ce_type: str) -> None:
    assert (FOLDER / f"{ce_type.removeprefix('spades.')}.jsonl").exists(), f"no golden sample of {ce_type}"


@BY_TYPE
def test_the_committed_schema_is_current(cls: type[msgspec.Struct], ce_type: str) -> None:
    committed = (SCHEMAS / schema_name(ce_type)).read_text("utf-8")
    assert committed == schema_text(cls), "run: python -m spades_events.schemas"


def test_every_golden_type_can_still_be_read() -> None:
    readable = {*CE_TYPES.values(), *UPCASTERS}
    assert {sample.ce_type for sample in SAMPLES} <= readable


def test_every_field_of_a_type_stands_in_one_of_its_samples() -> None:
    # A field that no sample sets could be renamed without a test noticing.
    for cls, ce_type in CE_TYPES.items():
        bodies = [json.loads(sample.body) for sample in SAMPLES if sample.ce_type == ce_type]
        for field in cls.__struct_fields__:
            values = [body.get(field) for body in bodies if body.get(field) is not None]
            assert values, f"{ce_type}.{field}"
