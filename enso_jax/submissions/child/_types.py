"""What is ``float``, as a type, to a submission?

It is called, given as a dtype, compared, and asked by `isinstance`.
"""

from collections.abc import Callable
from typing import Any


class TypeStandIn(type):
    """The type of stand-ins for types: they are called, given as a dtype, and asked `isinstance`.

    What is made of them is made by `convert`, an instance is what `owns` says it is.
    """

    real: type
    convert: Callable
    owns: Callable[[Any], bool]

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        return cls.convert(*arguments, **options)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.real) or cls.owns(instance)

    def __subclasscheck__(cls, other: type) -> bool:
        real = other.real if isinstance(other, TypeStandIn) else other
        return issubclass(real, cls.real)

    def __getitem__(cls, item: Any) -> Any:
        return cls.real[item]  # pyright: ignore[reportIndexIssue]

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.real, name)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.real

    def __hash__(cls) -> int:
        return hash(cls.real)


def stand_in_type(
    real: type, convert: Callable, owns: Callable[[Any], bool], **attributes: Any
) -> type:
    """A stand-in for a type: how it makes instances, and which it takes for its own."""
    namespace = {
        "real": real,
        "convert": staticmethod(convert),
        "owns": staticmethod(owns),
        "__doc__": real.__doc__,
        **attributes,
    }
    return TypeStandIn(real.__name__, (), namespace)
