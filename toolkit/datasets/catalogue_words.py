"""Word lists of the generated catalogue. Brand names are invented; sentences are our own."""

from __future__ import annotations

BRAND_STARTS = ("Hart", "Oak", "Nor", "Vel", "Bri", "Cal", "Dun", "Ever", "Fen", "Gal", "Iver", "Jun", "Kel", "Lor", "Mar",
                "Nim", "Or", "Pel", "Quin", "Ros", "Sal", "Tor", "Ul", "Ver", "Wen", "Yar", "Zan", "Alder", "Bram", "Cor")
BRAND_ENDS = ("well", "mont", "vane", "lio", "dex", "wick", "ora", "ston", "field", "ique", "bay", "crest", "mere", "tec", "land",
              "via", "ford", "aro", "haus", "line")
BRAND_SUFFIXES = ("", "", "", "", "", " Home", " & Co", " Supply", " Goods", " Works")

COLORS = ("black", "white", "gray", "navy", "red", "green", "beige", "pink", "teal", "brown", "silver", "purple", "yellow",
          "ivory", "charcoal", "turquoise", "burgundy", "olive", "coral", "lavender")
SELLER_COLORS = ("Midnight {}", "{}", "{}", "{}", "{}/Multi", "Matte {}", "{} (2 Pack)")
AUDIENCES = ("women", "men", "kids", "adults", "girls", "boys", "seniors", "teens")

MATERIALS = {
    "fabric": ("cotton", "linen", "polyester", "velvet", "fleece", "wool", "microfiber", "chenille"),
    "leather": ("leather", "suede", "vegan leather", "canvas", "nylon"),
    "shoe": ("leather", "suede", "canvas", "mesh", "rubber"),
    "bag": ("nylon", "canvas", "polyester", "leather", "ripstop"),
    "metal": ("stainless steel", "aluminum", "brass", "steel", "titanium"),
    "wood": ("walnut", "oak", "bamboo", "pine", "acacia", "mahogany"),
    "plastic": ("silicone", "acrylic", "plastic", "foam", "vinyl"),
    "cookware": ("cast iron", "stainless steel", "ceramic", "copper", "silicone"),
    "care": ("lavender oil", "aloe", "coconut", "charcoal", "mint", "oatmeal", "shea butter"),
    "food": ("vanilla", "peanut", "honey", "oat", "berry", "coconut"),
    "gadget": ("wireless", "braided", "bluetooth", "rechargeable", "wired"),
    "paper": ("recycled", "kraft", "bamboo", "hardcover", "wooden"),
}
SIZES = {  # kind: (values, unit as written in titles, short unit of shoppers)
    "furniture": (("18", "24", "30", "36", "42", "48", "60", "72", "84"), "Inch", '"'),
    "diameter": (("1/2", "3/4", "6", "8", "10", "12", "1 1/2", "14"), "Inch", '"'),
    "waist": (("1 1/4", "1 1/2", "1 3/4", "32", "36", "40"), "Inch", '"'),
    "volume": (("12", "16", "20", "32", "40", "64"), "Oz", "oz"),
    "weight": (("2", "5", "8", "10", "16", "25"), "Lb", "lbs"),
    "ounces": (("1", "2 1/2", "4", "6", "8"), "Oz", "oz"),
    "count": (("2", "6", "12", "24", "48", "100"), "Pack", "pk"),
    "cable": (("3", "6", "10", "25", "50"), "Ft", "ft"),
    "shoe": (("6", "7", "8", "9 1/2", "10", "11"), "Size", "size"),
    "clothes": (("Small", "Medium", "Large", "XL", "2XL"), "", ""),
    "bedding": (("Twin", "Full", "Queen", "King"), "", "size"),
}
LINES = ("Classic", "Essential", "Heritage", "Studio", "Summit", "Harbor", "Prime", "Signature", "Daily", "Metro", "Aspen", "Nova")

BULLETS = (
    "MADE TO LAST: {material} parts chosen for years of everyday use",
    "EASY CARE: wipe with a damp cloth, air dry, done",
    "THOUGHTFUL DETAILS: {feature} where you expect it and clean edges everywhere",
    "RIGHT SIZE: measures {size}, please check the chart before ordering",
    "WHAT YOU GET: one {type}, printed instructions and our friendly support",
    "FOR MANY ROOMS: at home in a dorm, an apartment, an office or a garage",
    "A TYPE OF {type} that earns its place: simple, sturdy, honest",
    "COLOR NOTE: {color} may look slightly different on your display panel",
    "PACKED WITH CARE: arrives in plain recyclable boxes",
    "ONE YEAR PROMISE: write to {brand} and we replace what breaks",
    "COMFORT FIRST: tested by people who use a {type} every day",
    "GREAT VALUE: the quality of {material} without the usual price",
)
DESCRIPTIONS = (
    "The {brand} {line} {type} was drawn in a small workshop and refined over three seasons.",
    "We chose {material} because it ages well and feels good in the hand.",
    "Customers tell us that the {feature} is the part they would miss most.",
    "It comes in {color} and a few other tones that are easy to combine.",
    "Use it every day, keep it dry, and it will stay with your family for a long time.",
    "Every order is checked by hand before it leaves our warehouse.",
    "If anything is not as expected, send a message and we will make it right.",
    "Measures {size}; small differences are natural for this material.",
    "A practical present for birthdays, housewarmings and holidays.",
    "Simple lines, solid construction and no needless extras.",
    "Our {type} has been tested for thousands of cycles in an independent laboratory.",
    "Assembly, where needed, takes a few minutes and no special tools.",
)

NOVELTY_ITEMS = ("Mug", "T-Shirt", "Sticker", "Poster", "Keychain", "Throw Pillow", "Tote Bag", "Ornament", "Cookie Cutter",
                 "Greeting Card", "Coaster Set", "Phone Grip", "Canvas Print", "Enamel Pin", "Doormat", "Night Light", "Puzzle", "Apron")
NOVELTY_ADJECTIVES = ("Funny", "Vintage", "Retro", "Cute", "Personalized", "Watercolor", "Minimalist", "Rustic", "Glow", "Holiday")
NOVELTY_TAILS = ("Gift for Dad", "Gift for Mom", "Birthday Present", "Party Favor", "Room Decor", "Stocking Stuffer", "Gift Idea",
                 "Retirement Gift", "Teacher Gift", "Home Decor")
NOVELTY_BULLETS = (
    "PRINTED {theme} design that does not fade or peel",
    "A small surprise for anyone who loves a {theme} and a good laugh",
    "Drawn by independent artists and printed to order",
    "Vivid colors on both sides, safe for the dishwasher or washing machine where it applies",
    "Ships flat in a rigid mailer with a blank note",
)
NOVELTY_DESCRIPTIONS = (
    "Original {theme} artwork printed on demand.",
    "A cheerful {item} for collectors of {theme} things.",
    "Each piece is made after you order it, so please allow a few days.",
    "Choose it for a desk, a shelf or a party table.",
)
QUIET_BULLETS = (
    "COMPLETE OUTFIT: everything needed for the first day is in the box",
    "PRECISE PARTS: machined, adjusted and inspected by technicians",
    "GROWS WITH YOU: suits careful newcomers and returning experts",
    "SERVICE: spare parts stay available for ten years",
    "CARRY BAG: padded, with room for accessories",
)
QUIET_DESCRIPTIONS = (
    "Our engineers spent two years on this series and listened to instructors, clubs and repair shops.",
    "Spare parts, manuals and videos are available from our service team at any time.",
    "The manual explains setup, care and storage in clear steps with drawings on every page.",
    "It arrives adjusted and ready, and the padded bag keeps it safe between sessions.",
    "Write to us with questions about setup and you will get an answer from a person who uses one every week.",
    "Registered owners receive an extended warranty and invitations to local workshops during the season.",
)
SHOPPER_WORDS = ("cheap", "affordable", "comfy", "fancy", "trendy", "gorgeous", "bargain", "luxurious", "stylish", "reliable",
                 "inexpensive", "highest rated", "discounted", "elegant", "super", "nicest", "excellent", "amazing", "clearance", "deluxe")
"""What shoppers add and no listing says."""

ABBREVIATIONS = {"black": "blk", "white": "wht", "women": "wmns", "stainless steel": "ss", "large": "lg", "small": "sm", "with": "w/"}
KEYBOARD = {"a": "s", "b": "v", "c": "x", "d": "f", "e": "r", "f": "g", "g": "h", "h": "j", "i": "o", "j": "k", "k": "l", "l": "k", "m": "n",
            "n": "m", "o": "p", "p": "o", "q": "w", "r": "t", "s": "d", "t": "y", "u": "i", "v": "b", "w": "e", "x": "c", "y": "u", "z": "x"}
"""A key's neighbour on a QWERTY keyboard: how fingers miss."""
BY_EAR = (("ph", "f"), ("ck", "k"), ("c", "k"), ("s", "z"), ("ea", "ee"), ("oo", "u"), ("ai", "ay"), ("er", "ur"), ("or", "er"), ("ll", "l"),
          ("tt", "t"), ("le", "el"), ("y", "ie"), ("x", "ks"), ("g", "j"), ("ow", "ou"), ("ie", "ei"), ("ch", "sh"), ("ss", "s"), ("ar", "er"))
"""Letters and how they are written by ear."""
