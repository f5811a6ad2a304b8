"""English words that are never replaced: they express grammar or number, or have hardly any meaning of their own."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return the words of a line."""
    return frozenset(text.split())


DETERMINERS = words(
    "a an the this these those my your his her its our their some any no every each another both either neither "
    "which whose what such all"
)
TO = frozenset(["to"])
MODALS = words(
    "will would can could should may might must shall cannot can't won't don't didn't doesn't couldn't wouldn't "
    "shouldn't i'll you'll we'll they'll he'll she'll it'll i'd you'd we'd they'd he'd she'd do does did let's please "
    "cant wont dont didnt doesnt gonna wanna"
)
SUBJECTS = words(
    "i you u we they he she it who someone somebody something anyone anybody anything everyone everybody everything "
    "nobody nothing"
)
OBJECTS = words("me him them us it you her myself himself themselves itself yourself something everything")
BEING = words(
    "is are was were be been being am isn't aren't wasn't weren't it's he's she's that's there's i'm you're we're "
    "they're what's who's im theyre thats gets get got getting feel feels felt seem seems seemed look looks looked "
    "become becomes became"
)
HAVING = words("has have had having hasn't haven't hadn't i've you've we've they've")
PREPOSITIONS = words(
    "of in on at by for with from about into over after before between against during without under through within "
    "among across behind beyond toward towards upon near since until despite via per like than as"
)
GOVERNED = words("to for from of about that")  # a verb may take this one only
DEGREES = words("very so too more most less least quite really pretty rather extremely how as")
JOINING = words("and or but nor if when while because that then where though although whether yet")

_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion "
    "dozen first second third fourth fifth sixth seventh eighth ninth tenth half quarter twice once zero last next "
    "single double triple"
)
_LIGHT_VERBS = (
    "be have do get make take go come give put let keep want tell know think see look seem become like mean call ask "
    "turn set run work play feel leave bring hold"
)
_OTHERS = (
    "not never also just only even still again ever always here there now today tonight yesterday tomorrow up "
    "down out off away back around along together else already enough much many few lot lots more most less "
    "least other others own same well why how yes no please thanks thank ok okay hi hello hey lol oh ago "
    "however instead anyway besides am pm mr mrs ms dr vs etc eg ie thing things way ways kind "
    "sort anything nothing everything something anyone someone everyone nobody somebody everybody none themselves "
    "himself herself myself yourself ourselves itself oneself mine yours hers ours theirs whom whatever whichever "
    "whoever above below out onto except unless till amid amongst beside inside outside throughout underneath "
    "unlike whereas aboard past plus minus versus quot amp lt gt br href http https www com time times day days year "
    "years month months week weeks hour hours minute minutes monday tuesday wednesday thursday friday saturday sunday "
    "january february march april june july august september october november december mother father man men woman "
    "women people regarding concerning considering according including following involving due percent cent dollar euro"
)

SPARED: frozenset[str] = (
    DETERMINERS
    | TO
    | MODALS
    | SUBJECTS
    | OBJECTS
    | BEING
    | HAVING
    | PREPOSITIONS
    | DEGREES
    | JOINING
    | words(f"{_NUMBERS} {_LIGHT_VERBS} {_OTHERS}")
)
