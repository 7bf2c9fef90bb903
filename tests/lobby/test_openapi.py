"""The committed OpenAPI document is that of the routes, and its examples fit their schemas."""

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from spades_events.asyncapi import text_of
from spades_lobby import openapi


def test_the_committed_document_is_current() -> None:
    committed = openapi.FILE.read_text("utf-8")
    assert committed == text_of(openapi.document()), "run: python -m spades_lobby.openapi"


def test_every_request_body_can_be_made_of_its_examples() -> None:
    document = openapi.document()
    schemas = document["components"]["schemas"]
    for name in sorted(_bodies(document)):
        body = _example(schemas[name], schemas)
        validator = Draft202012Validator({**schemas[name], "components": document["components"]})
        problems = [error.message for error in validator.iter_errors(body)]
        assert problems == [], f"{name}: {body}"


def _bodies(document: dict[str, Any]) -> Iterator[str]:
    for operations in document["paths"].values():
        for operation in operations.values():
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            for one in [schema, *schema.get("anyOf", [])]:
                if "$ref" in one:
                    yield one["$ref"].rsplit("/", 1)[1]


def _example(schema: dict[str, Any], schemas: dict[str, Any]) -> Any:
    """The needed fields by their examples; a closed set by its first member."""
    if "$ref" in schema:
        return _example(schemas[schema["$ref"].rsplit("/", 1)[1]], schemas)
    if schema.get("type") == "object" and "properties" in schema:
        return {name: _example(schema["properties"][name], schemas) for name in schema.get("required", [])}
    for field in ("examples", "enum"):
        if field in schema:
            return schema[field][0]
    pytest.fail(f"no example in {schema}")
