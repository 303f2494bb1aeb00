"""The base classes of all shapes, the envelope of answers, and lists."""

from collections.abc import Mapping
from functools import cache
from inspect import get_annotations
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema

from whence.api.values import JSONSchema, wrong

T = TypeVar("T")


class RequestShape(BaseModel):
    """A request body. Names are camelCase; snake_case is accepted. Unknown names are refused; null counts as absent."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")

    null_is_absent: ClassVar[bool] = True
    file_parts: ClassVar[tuple[str, ...]] = ()
    """Fields of a form that are files, not fields of the model."""

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """The documented names: the model's own fields first, then those of its bases."""
        names = dict.fromkeys(name for model in cls.__mro__ for name in get_annotations(model))
        return tuple(
            _list_aliases(name, cls.model_fields[name])[0] for name in names if name in cls.model_fields
        )

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, sent: Any) -> Any:
        if not isinstance(sent, Mapping):
            return sent
        known = _list_accepted_names(cls)
        if cls.model_config.get("extra") == "forbid" and (
            unknown := [name for name in sent if name not in known]
        ):
            names = ", ".join((*cls.file_parts, *cls.field_names()))
            provided = sent[unknown[0]]
            raise wrong(f"one of {names}", "unknown", name=str(unknown[0]), provided=provided, known=names)
        if not cls.null_is_absent:
            return sent
        return {name: value for name, value in sent.items() if value is not None}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        made = handler(schema)
        target = handler.resolve_ref_schema(made)
        properties, required = target.get("properties", {}), target.get("required", ())
        target["properties"] = {
            name: _add_null(properties[name])
            if cls.null_is_absent and name not in required
            else properties[name]
            for name in cls.field_names()
        }
        return made


@cache
def _list_accepted_names(model: type[BaseModel]) -> frozenset[str]:
    pairs = model.model_fields.items()
    return frozenset(alias for name, field in pairs for alias in (name, *_list_aliases(name, field)))


def _list_aliases(name: str, field: Any) -> tuple[str, ...]:
    if isinstance(field.validation_alias, AliasChoices):
        return tuple(str(choice) for choice in field.validation_alias.choices)
    return (field.alias or name,)


def or_text(schema: JSONSchema) -> None:
    """Documents that a single text may be sent instead of a list."""
    array = {"type": schema.pop("type"), "items": schema.pop("items"), "minItems": 1}
    schema["anyOf"] = [{"type": "string"}, array]


_ABOUT = frozenset(("description", "default", "title", "examples"))


def _add_null(schema: JSONSchema) -> JSONSchema:
    about = {key: value for key, value in schema.items() if key in _ABOUT}
    inner = {key: value for key, value in schema.items() if key not in about}
    choices = inner["anyOf"] if set(inner) == {"anyOf"} else [inner]
    null = {"type": "null"}
    return {"anyOf": choices if null in choices else [*choices, null], **about}


class AnswerShape(BaseModel):
    """A part of an answer in snake_case. A field with a default is left out if it was not requested."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    @classmethod
    def of(cls, thing: Any, /, **more: Any) -> Self:
        """Takes fields of the same names from an object or a mapping. `more` adds or replaces fields."""
        if isinstance(thing, Mapping):
            return cls.model_validate({**thing, **more})
        names = (name for name in cls.model_fields if name not in more and hasattr(thing, name))
        return cls.model_validate({**{name: getattr(thing, name) for name in names}, **more})

    def encode(self) -> bytes:
        """The JSON text. Fields that were not set are left out; nulls stay."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_unset=True)

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class CamelShape(AnswerShape):
    """A part of an answer in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Success(BaseModel, Generic[T]):
    """The envelope of answers."""

    success: Literal[True]
    data: T


class Pagination(AnswerShape):
    total: int
    limit: int
    offset: int
    has_more: bool


class Listing(AnswerShape, Generic[T]):
    """One page of a list."""

    items: list[T]
    pagination: Pagination

    @classmethod
    def page(cls, items: list[T], total: int, limit: int, offset: int, **more: Any) -> Self:
        has_more = offset + len(items) < total
        pagination = Pagination(total=total, limit=limit, offset=offset, has_more=has_more)
        return cls(items=items, pagination=pagination, **more)


class ErrorBody(AnswerShape):
    code: str = Field(examples=["INVALID_PARAMETER"])
    message: str = Field(examples=["include_source must be a boolean"])
    details: dict[str, Any] = Field(
        examples=[{"parameter": "include_source", "provided": "maybe", "expected": "true, false, 1, or 0"}]
    )


class ErrorAnswer(AnswerShape):
    """The envelope of errors."""

    success: Literal[False]
    error: ErrorBody


class StoredError(AnswerShape):
    """The error of a failed job."""

    model_config = ConfigDict(extra="allow")

    code: str = Field(examples=["UNREADABLE_DOCUMENT"])
    message: str
    details: dict[str, Any] = Field(default_factory=dict)
