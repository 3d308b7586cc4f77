"""What the generated catalogue sells: product types, hobby themes, and what it does not stock.

``gap`` words are what shoppers say and no listing writes: a query made of them has no term in common
with the products it means. They must stay out of every other text of the generator (a test checks).
"""

from __future__ import annotations

from typing import NamedTuple


class ProductType(NamedTuple):
    """One kind of product: its noun, shoppers' other words, and what its listings vary."""

    name: str
    gap: tuple[str, ...]
    material: str  # key of catalogue_words.MATERIALS
    size: str  # key of catalogue_words.SIZES
    features: tuple[str, ...]  # nouns that fit "with ..." and "without ..."
    complement: str  # a type that goes with it (label C)


class Theme(NamedTuple):
    """A hobby whose noun fills novelty listings while the real item's title avoids it.

    ``quiet`` are title nouns of the real item, ``about`` its description (names the hobby once) and
    ``context`` what shoppers add to the hobby's noun.
    """

    name: str
    quiet: tuple[str, ...]
    about: str
    context: tuple[str, ...]


def _types(text: str) -> tuple[ProductType, ...]:
    """Parse ``name | gap | material | size | features | complement`` lines."""
    def words(cell: str) -> tuple[str, ...]:
        return tuple(word.strip() for word in cell.split(",") if word.strip())

    rows = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
    return tuple(ProductType(name, words(gap), material, size, words(features), complement)
                 for name, gap, material, size, features, complement in rows)


TYPES = _types("""
sofa | couch, settee | fabric | furniture | storage, chaise, nailheads, cupholders | area rug
office chair | swivel seat | leather | furniture | wheels, armrests, headrest, footrest | desk
sneakers | trainers, kicks | shoe | shoe | laces, spikes, stripes, zipper | socks
water bottle | canteen, flask | metal | volume | straw, handle, infuser, strap | backpack
backpack | rucksack, knapsack | bag | volume | wheels, pockets, chest strap, rain cover | water bottle
belt | waist sash | leather | waist | buckle, studs, stitching, holes | wallet
tumbler | beaker | metal | volume | straw, handle, lid, sleeve | water bottle
floor lamp | torchiere | metal | furniture | dimmer, shelves, pedals, outlets | sofa
toothpaste | dentifrice | care | ounces | fluoride, whitener, sparkles, cap | mouthwash
hoodie | sweatshirt | fabric | clothes | zipper, pockets, logo, drawstrings | sneakers
suitcase | luggage, valise | bag | furniture | wheels, lock, divider, expander | backpack
dining table | supper bench | wood | furniture | leaf, drawers, casters, umbrella hole | area rug
desk | workstation, bureau | wood | furniture | drawers, hutch, keyboard tray, casters | office chair
skillet | frypan, griddle | cookware | diameter | lid, spout, helper handle, coating | spatula
lotion | moisturizer, emollient | care | volume | fragrance, parabens, pump, glitter | sunscreen
granola bars | muesli snacks | food | count | nuts, raisins, gluten, chocolate | protein powder
headphones | earbuds | gadget | cable | microphone, wire, case, volume limiter | charging cable
curtains | drapes | fabric | furniture | grommets, lining, tassels, tiebacks | area rug
trash can | rubbish bin, wastebasket | metal | volume | pedal, lid, liner ring, wheels | paper towels
flashlight | torch | metal | cable | clip, lanyard, magnet, batteries | batteries
comforter | duvet, quilt | fabric | bedding | ties, ruffles, shams, tassels | curtains
slippers | moccasins | shoe | shoe | heel, bow, fur, insoles | pajamas
sandals | flip flops | shoe | shoe | heel, buckle, beads, backstrap | sunglasses
sweater | jumper, pullover | fabric | clothes | buttons, hood, pockets, sequins | pants
pants | trousers, slacks | fabric | clothes | pleats, pockets, zipper, cuffs | belt
shampoo | hair rinse | care | volume | sulfates, fragrance, pump, silicones | lotion
sunscreen | sunblock | care | volume | fragrance, tint, zinc, oxybenzone | sunglasses
protein powder | whey supplement | food | weight | sweetener, lactose, soy, caffeine | tumbler
dog leash | puppy lead | bag | cable | reflectors, padding, hook, bag dispenser | dog bed
dog bed | kennel cushion | fabric | furniture | bolster, cover, canopy, feet | dog leash
faucet | tap, spigot | metal | furniture | sprayer, sensor, baseplate, aerator | soap dispenser
soap dispenser | lather pump | plastic | volume | sensor, suction cups, label, tray | faucet
wallet | billfold | leather | waist | coin pouch, chain, money clip, zipper | belt
handbag | purse, pocketbook | leather | furniture | tassel, fringe, chain strap, zipper | wallet
sunglasses | shades | plastic | count | mirror coating, nose pads, cord, case | sandals
umbrella | brolly, parasol | fabric | furniture | vent, sheath, crook, fringe | boots
boots | wellies, galoshes | shoe | shoe | laces, steel toe, buckle, lining | socks
socks | hosiery | fabric | clothes | grips, cuffs, cushioning, seams | sneakers
pajamas | pjs, nightwear | fabric | clothes | buttons, feet, pockets, lace | slippers
stroller | pram, pushchair | bag | furniture | canopy, tray, cupholders, basket | diapers
diapers | nappies | fabric | count | wetness indicator, fragrance, latex, ruffles | stroller
pacifier | binky | plastic | count | clip, strap, shield, case | diapers
charging cable | power lead | gadget | cable | ferrite, sleeve, magnet, switch | headphones
television | telly | gadget | furniture | stand, speakers, tuner, bezel | wall mount
wall mount | bracket | metal | furniture | swivel, tilt, level, shelf | television
keyboard | typing pad | gadget | furniture | backlight, numpad, wrist rest, dongle | monitor
monitor | computer screen | gadget | furniture | speakers, curve, webcam, glare | keyboard
lawn mower | grass cutter | metal | furniture | bagger, choke, headlight, starter | garden hose
garden hose | sprinkler pipe | plastic | cable | nozzle, reel, fittings, coil | lawn mower
shovel | spade | metal | furniture | footplate, grip, serrations, sheath | garden hose
wrench | spanner | metal | diameter | ratchet, markings, grip, jaw pads | pliers
pliers | pincers | metal | diameter | spring, cutter, grip, teeth | wrench
yoga mat | stretching pad | plastic | furniture | strap, holes, markings, texture | dumbbells
dumbbells | barbells | metal | weight | rack, collars, coating, grips | yoga mat
cooler | esky, icebox | plastic | volume | wheels, drain, bottle opener, cupholders | tumbler
sleeping bag | bivouac sack | fabric | bedding | hood, zipper, liner, pillow pocket | cooler
candle | taper | care | ounces | fragrance, lid, wick, dye | picture frame
picture frame | photo surround | wood | diameter | matting, easel, glass, hooks | wall clock
wall clock | timepiece | wood | diameter | chime, numerals, pendulum, second hand | picture frame
notebook | jotter | paper | count | lines, perforations, elastic, index | pencils
pencils | crayons | paper | count | erasers, sharpener, ferrules, tin | notebook
binder | ring folder | paper | diameter | tabs, sheet lifters, label holder, zipper | notebook
paper towels | kitchen roll | paper | count | prints, core, perforations, lotion | trash can
area rug | carpet | fabric | furniture | fringe, backing, border, tassels | curtains
bookcase | book rack | wood | furniture | doors, drawers, ladder, back panel | desk
ottoman | footstool, pouf | fabric | furniture | tray, storage, casters, tufting | sofa
batteries | power cells | gadget | count | charger, tabs, case, indicator | flashlight
spatula | fish turner | cookware | diameter | holes, hook, bevel, thermometer | skillet
mouthwash | oral rinse | care | volume | alcohol, dye, fluoride, pump | toothpaste
""")

ABSENT = (
    "fog machine", "mandolin slicer", "popcorn cart", "barber pole", "ceiling medallion", "bird feeder", "chain saw",
    "ice skates", "wedding veil", "tool chest", "turtle tank", "rice cooker", "bunk ladder", "truck tonneau", "chalk board",
    "pool skimmer", "beekeeping suit", "pottery wheel", "quail incubator", "pinball table", "air hockey", "engine hoist",
)
"""Products that queries ask for and the catalogue does not stock (their judged ids are not indexed)."""

THEMES = (
    Theme("telescope", ("70mm Refractor Optical Tube", "Stargazing Reflector Kit"),
          "A first telescope for clear nights: coated optics, moon filter and star map show craters, Saturn and Jupiter.",
          ("viewing planets", "astronomy", "night sky", "saturn rings")),
    Theme("guitar", ("Dreadnought Acoustic Six String", "Spruce Top Cutaway Instrument"),
          "A guitar for the living room and the stage: spruce top, low action and geared tuners keep every chord in tune.",
          ("strumming chords", "musician", "fingerstyle lessons", "acoustic songs")),
    Theme("skateboard", ("Maple Complete Deck with Trucks", "Street Cruiser Deck"),
          "This skateboard rolls on soft urethane and seven plies of maple, ready for ollies, ramps and bowls.",
          ("ollie tricks", "halfpipe", "street riding", "teen tricks")),
    Theme("kayak", ("Inflatable Two Person Paddle Boat", "Sit On Top Touring Hull"),
          "A kayak that packs into a trunk, with aluminum paddles, a skeg and high pressure chambers for lakes and slow rivers.",
          ("paddling lake", "river touring", "whitewater", "paddler")),
    Theme("microscope", ("Compound 1000X Lab Optics", "Biology Student Optics Station"),
          "A microscope for school and home: three objectives, mechanical stage and prepared slides of cells and insects.",
          ("cells slides", "biology class", "science lab", "magnification")),
    Theme("drone", ("GPS Quadcopter with 4K Camera", "Foldable Aerial Quadcopter"),
          "The drone returns home on its own, holds its altitude and films from the air for thirty minutes.",
          ("aerial filming", "flying camera", "fpv pilot", "quad rotor")),
    Theme("violin", ("Full Size Maple Orchestra Outfit", "Student Bowed Instrument Outfit"),
          "A student violin set up by hand, with bow, rosin and shoulder rest for the first recital.",
          ("orchestra recital", "bowing", "classical", "fiddle music")),
    Theme("tractor", ("Die Cast Farm Vehicle 1:32", "Ride On Farm Loader"),
          "Pull the trailer and lift the loader: a tractor for small farmers with steering that works.",
          ("farm loader", "plowing field", "toddler ride", "agriculture")),
    Theme("piano", ("88 Key Weighted Digital Instrument", "Upright Console with Hammer Action"),
          "A digital piano with hammer action, three pedals and sampled concert sound for practice with earphones.",
          ("weighted keys", "concert sound", "practice instrument", "sonata")),
    Theme("camera", ("Mirrorless Digital Body 24MP", "Compact Point and Shoot 20MP"),
          "A camera with fast autofocus, stabilized lens and 4K video, small enough for every pocket.",
          ("autofocus lens", "photography", "vlogging video", "megapixel zoom")),
    Theme("train", ("Electric HO Scale Railway Starter", "Steam Locomotive Track Layout"),
          "The train runs on an oval of nickel track with locomotive, tender and three freight cars.",
          ("ho scale locomotive", "railway track", "railroad layout", "steam engine")),
    Theme("bicycle", ("21 Speed Commuter 700C", "Hybrid Step Through 26 Inch Frame"),
          "A bicycle for the daily ride: alloy frame, disc brakes, fenders and a rack.",
          ("commuting", "hybrid gears", "pedaling", "disc brakes")),
    Theme("surfboard", ("Soft Top Foam Longboard 8 Foot", "Epoxy Shortboard Thruster"),
          "A surfboard that forgives: wide nose, soft deck and three fins catch the first green waves.",
          ("catching waves", "longboard foam", "ocean lessons", "beach waves")),
    Theme("tent", ("Two Person Backpacking Shelter", "Four Season Dome Shelter"),
          "The tent stands in five minutes, sheds heavy rain and packs to three pounds.",
          ("backpacking shelter", "campsite", "hiking overnight", "wilderness")),
    Theme("accordion", ("72 Bass Squeezebox", "Diatonic Button Squeezebox"),
          "An accordion with steel reeds, leather straps and a hard case for folk and polka.",
          ("polka music", "folk reeds", "bellows", "button box")),
    Theme("robot", ("Programmable STEM Building Kit", "Coding Rover with Sensors"),
          "Build the robot, then teach it: motors, sensors and block code for rainy afternoons.",
          ("coding kit", "programmable stem", "engineering motors", "arduino")),
    Theme("compass", ("Orienteering Baseplate Navigator", "Sighting Lensatic Navigator"),
          "A compass with global needle, declination scale and luminous bezel for map work.",
          ("orienteering map", "navigation", "declination", "hiking north")),
    Theme("binoculars", ("10x42 Roof Prism Field Glass", "8x32 Compact Field Optics"),
          "Binoculars with phase coated prisms, sealed with nitrogen, for birds at dawn.",
          ("birding", "wildlife watching", "prism optics", "opera viewing")),
    Theme("saxophone", ("Alto E Flat Woodwind Outfit", "Tenor B Flat Woodwind Outfit"),
          "A saxophone with high F sharp key, mouthpiece and reeds for the school band.",
          ("jazz band", "alto woodwind", "mouthpiece reeds", "marching band")),
    Theme("chess", ("Tournament Roll Up Board with Staunton Pieces", "Folding Walnut Board and Staunton Men"),
          "A chess set with weighted pieces, felt bottoms and notation on the squares.",
          ("tournament pieces", "staunton kings", "strategy board", "grandmaster")),
    Theme("snowboard", ("All Mountain Camber Deck 156", "Freestyle Twin Rocker Deck"),
          "A snowboard for groomers and powder, with sintered base and directional camber.",
          ("freestyle slope", "powder riding", "alpine", "halfpipe rider")),
    Theme("hammock", ("Parachute Nylon Sling with Tree Straps", "Woven Rope Bed with Spreader Bars"),
          "The hammock holds two, dries in minutes and hangs between any two trees.",
          ("tree straps", "relaxing outside", "camp sleeping", "hanging nap")),
    Theme("ukulele", ("Concert Mahogany Four String", "Soprano Four String Starter Kit"),
          "A ukulele with mahogany body, aquila strings and a songbook.",
          ("hawaiian music", "four string", "soprano mahogany", "songbook")),
    Theme("typewriter", ("Manual Portable Writing Machine", "Ribbon Writing Machine with Case"),
          "A typewriter that needs no outlet: steel typebars, red and black ribbon, a bell at the margin.",
          ("manual ribbon", "writers letters", "author", "typing machine")),
)
