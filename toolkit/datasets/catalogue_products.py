"""Listings of the generated catalogue: ordinary products, novelty listings and quiet real items."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from toolkit.datasets import catalogue_words as words
from toolkit.datasets.catalogue_draw import Draw
from toolkit.datasets.catalogue_types import ProductType, Theme

ID_LETTERS = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True)
class Listing:
    """One product and what it truly is.

    Attributes
    ----------
    product_id : str
    kind : str
        ``plain``; ``novelty`` (a printed item that names a hobby); ``quiet`` (a hobby's real item, whose
        title does not say so); ``absent`` (a product that is judged and not stocked).
    group : str
        The product type's, theme's or absent product's name.
    facts : dict of str to str
        True attributes: brand, model, color, material, size, audience, features (each may be missing).
    text : dict of str to (str or None)
        The canonical text columns.
    """

    product_id: str
    kind: str
    group: str
    facts: dict[str, str] = field(default_factory=dict)
    text: dict[str, str | None] = field(default_factory=dict)


def brand_names(draw: Draw, n: int) -> list[str]:
    """``n`` different invented brand names."""
    stems = [start + end for start in words.BRAND_STARTS for end in words.BRAND_ENDS]
    return [stem + draw.one(words.BRAND_SUFFIXES) for stem in draw.some(stems, n)]


def product_id(draw: Draw, taken: set[str]) -> str:
    """A new id in the catalogue's manner (B0 and eight letters or digits)."""
    while True:
        made = "B0" + "".join(draw.one(ID_LETTERS) for _ in range(8))
        if made not in taken:
            taken.add(made)
            return made


def model_name(draw: Draw) -> str:
    """A model name such as ``HX-240`` or ``K9``."""
    letters = draw.one("ABCDEFGHKLMNPRSTVWXZ") + (draw.one("LXTRS") if draw.chance(60) else "")
    return f"{letters}-{draw.between(10, 99) * 10}" if draw.chance(70) else f"{letters}{draw.between(2, 99)}"


def facts_of(draw: Draw, kind: ProductType, brands: list[str]) -> dict[str, str]:
    """Draw the true attributes of a plain product."""
    facts = {"brand": draw.early(brands), "model": model_name(draw), "color": draw.early(words.COLORS),
             "material": draw.one(words.MATERIALS[kind.material]), "size": draw.one(words.SIZES[kind.size][0]),
             "line": draw.one(words.LINES)}
    if kind.material in ("care", "food"):
        del facts["color"]
    if draw.chance(35):
        facts["audience"] = draw.early(words.AUDIENCES)
    if draw.chance(45):
        facts["features"] = draw.one(kind.features)
    return facts


def size_text(kind: ProductType, size: str) -> str:
    """The size as listings write it, for example ``60 Inch`` or ``Queen``."""
    unit = words.SIZES[kind.size][1]
    return f"{unit} {size}" if unit == "Size" else f"{size} {unit}".strip()


def plain_title(draw: Draw, kind: ProductType, facts: dict[str, str]) -> str:
    """A seller's title: some attributes are left out, order varies."""
    parts = [facts["brand"]] if draw.chance(75) else []
    parts += [facts["model"]] if draw.chance(45) else [facts["line"]]
    parts += [facts["color"].title()] if "color" in facts and draw.chance(45) else []
    parts += [facts["material"].title()] if draw.chance(60) else []
    parts.append(kind.name.title())
    parts += [f"with {facts['features'].title()}"] if "features" in facts else []
    parts += [f"for {facts['audience'].title()}"] if "audience" in facts and draw.chance(70) else []
    title = " ".join(parts)
    return f"{title}, {size_text(kind, facts['size'])}" if draw.chance(65) else title


def plain(draw: Draw, kind: ProductType, brands: list[str], taken: set[str], **fixed: str | None) -> Listing:
    """An ordinary product; ``fixed`` facts replace the drawn ones, None removes one."""
    facts = {key: value for key, value in {**facts_of(draw, kind, brands), **fixed}.items() if value is not None}
    fill = {"brand": facts["brand"], "line": facts["line"], "type": kind.name, "material": facts["material"],
            "color": facts.get("color", "a natural tone"), "size": size_text(kind, facts["size"]), "feature": facts.get("features", "finish")}
    bullets = [line.format(**fill) for line in draw.some(words.BULLETS, draw.between(2, 5))]
    lines = [line.format(**fill) for line in draw.some(words.DESCRIPTIONS, draw.between(2, 5))]
    text = _columns(draw, plain_title(draw, kind, facts), facts["brand"], bullets, lines, facts.get("color"))
    return Listing(product_id(draw, taken), "plain", kind.name, facts, text)


def novelty(draw: Draw, theme: Theme, brands: list[str], taken: set[str]) -> Listing:
    """A printed item that names the theme in its title and is not the real thing."""
    item = draw.one(words.NOVELTY_ITEMS)
    title = f"{draw.one(words.NOVELTY_ADJECTIVES)} {theme.name.title()} {item}, {draw.one(words.NOVELTY_TAILS)}"
    fill = {"theme": theme.name, "item": item.lower()}
    bullets = [line.format(**fill) for line in draw.some(words.NOVELTY_BULLETS, draw.between(1, 3))]
    lines = [line.format(**fill) for line in draw.some(words.NOVELTY_DESCRIPTIONS, draw.between(1, 3))]
    brand = draw.early(brands)
    text = _columns(draw, title, brand, bullets, lines, draw.early(words.COLORS))
    return Listing(product_id(draw, taken), "novelty", theme.name, {"brand": brand, "item": item.lower()}, text)


def quiet(draw: Draw, theme: Theme, brands: list[str], taken: set[str]) -> Listing:
    """The real item: its name stands once, in the middle of a long description."""
    brand, model = draw.early(brands), model_name(draw)
    lines = draw.some(words.QUIET_DESCRIPTIONS, 4)
    text = _columns(draw, f"{brand} {model} {draw.one(theme.quiet)}", brand, draw.some(words.QUIET_BULLETS, 3), [],
                    draw.early(words.COLORS))
    text["description"] = " ".join([*lines[:2], theme.about, *lines[2:]])
    return Listing(product_id(draw, taken), "quiet", theme.name, {"brand": brand, "model": model}, text)


def absent(draw: Draw, name: str, taken: set[str]) -> Listing:
    """A product that somebody judged and nobody indexed: an id without text."""
    return Listing(product_id(draw, taken), "absent", name)


def near_duplicate(draw: Draw, listing: Listing, taken: set[str]) -> Listing:
    """The same product listed again: equal text, or a title with a small change."""
    text = dict(listing.text)
    if draw.chance(50):
        text["title"] = f"{text['title']} {draw.one(('(New)', 'New Version', '- Pack of 1', 'Updated'))}"
    return replace(listing, product_id=product_id(draw, taken), text=text)


def _columns(draw: Draw, title: str, brand: str, bullets: list[str], lines: list[str], color: str | None) -> dict[str, str | None]:
    """Text columns with nulls at ESCI's rates (brand some 7 %, bullets 15 %, description 45 %, colour some 37 %)."""
    return {
        "title": title,
        "brand": None if draw.chance(7) else brand,
        "bullet_point": None if draw.chance(15) else "\n".join(bullets),
        "description": None if draw.chance(45) else " ".join(lines),
        "color": None if draw.chance(30) or color is None else draw.one(words.SELLER_COLORS).format(color.title()),
        "category": "Other",
    }
