"""Facts a shopping text states that a change of words must keep: numbers, units, model names."""

from __future__ import annotations

import re

# Written form -> unit; inch and foot marks count only behind a number.
UNITS = {
    '"': "inch", "in": "inch", "inch": "inch", "inches": "inch", "'": "foot", "ft": "foot", "foot": "foot", "feet": "foot",
    "cm": "centimetre", "mm": "millimetre", "oz": "ounce", "ounce": "ounce", "ounces": "ounce", "lb": "pound", "lbs": "pound",
    "pound": "pound", "pounds": "pound", "ml": "millilitre", "l": "litre", "liter": "litre", "liters": "litre", "gb": "gigabyte",
    "tb": "terabyte", "w": "watt", "watt": "watt", "watts": "watt", "v": "volt", "volt": "volt", "volts": "volt", "qt": "quart",
    "quart": "quart", "quarts": "quart", "gal": "gallon", "gallon": "gallon", "gallons": "gallon", "pk": "pack", "pack": "pack",
    "packs": "pack", "ct": "count", "count": "count", "pcs": "piece", "piece": "piece", "pieces": "piece",
}
_QUANTITY = re.compile(r"(?<![a-z0-9.])(\d+(?:,\d{3})+|\d+\s+\d+/\d+|\d+/\d+|\d+(?:\.\d+)?)[\s-]*([a-z]+\b|[\"'”″’′])?", re.IGNORECASE)
_MODEL = re.compile(r"\b(?=[a-z0-9-]*\d)(?=[a-z0-9-]*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*\b", re.IGNORECASE)
# Quotation marks for inch and foot; fractions of one character as they are typed, apart from a number before them.
_MARKS = str.maketrans({"”": '"', "″": '"', "’": "'", "′": "'", "½": " 1/2", "¼": " 1/4", "¾": " 3/4", "⅓": " 1/3", "⅔": " 2/3",
                        "⅛": " 1/8", "⅜": " 3/8", "⅝": " 5/8", "⅞": " 7/8"})


def quantities(text: str) -> set[tuple[str, str | None]]:
    """Numbers of a text with their unit, None where there is none.

    ``1 1/2`` and ``1,000`` are one number each; ``#1`` counts; digits inside a model name do not.
    """
    found = set()
    plain = _MODEL.sub(lambda name: name[0] if _is_quantity(name[0].lower()) else " ", text.translate(_MARKS).lower())
    for number, unit in _QUANTITY.findall(plain):
        found.add((re.sub(r"\s+", " ", number.replace(",", "")), UNITS.get(unit)))
    return found


def numbers(text: str) -> set[str]:
    """Numbers of a text without their units."""
    return {number for number, _ in quantities(text)}


def model_names(text: str) -> set[str]:
    """Words that mix letters and digits (``wh-1000xm4``, ``b07``), lower case; a number with its unit is none."""
    names = {name.lower() for name in _MODEL.findall(text)}
    return {name for name in names if not _is_quantity(name)}


def _is_quantity(name: str) -> bool:
    """True for a number joined to a unit, such as ``12oz`` or ``5-pack``, and for ordinals."""
    split = re.fullmatch(r"(\d+(?:\.\d+)?)-?([a-z]+)", name)
    return bool(split) and (split[2] in UNITS or split[2] in ("st", "nd", "rd", "th"))
