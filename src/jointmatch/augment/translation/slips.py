"""Words that Apertium's English and Spanish confuse on the way back, found by counting over five data sets.

"This" comes back as "east" (este), "ok" as "voucher" (vale), "good" as "well" (bien): a small error in grammar, but a
large one for a label.
"""

from __future__ import annotations

_GRAMMAR = {  # only the words beside them tell, so just one-for-one changes are corrected
    "a": "one an",
    "an": "a",
    "another": "other",
    "better": "best",
    "can": "power may",
    "everything": "all",
    "has": "have",
    "in": "on at",
    "is": "are",
    "left": "let allowed",
    "like": "as",
    "more": "most best",
    "no": "not",
    "of": "from",
    "so": "as",
    "that": "than",
    "the": "it him her them",
    "very": "well good right",
    "was": "out off away went were",
    "well": "good nice fine right",
    "went": "out off away",
    "what": "how",
    "worse": "worst",
}
_MEANING = {
    "alimentary": "food",
    "allocution": "address",
    "amour": "love",
    "backwards": "back",
    "bad": "mean wrong",
    "bouquet": "bunch",
    "bred": "raised",
    "breed": "raise",
    "breeding": "raising",
    "breeds": "raises",
    "career": "run",
    "clock": "watch",
    "clue": "track",
    "council": "advice",
    "creature": "baby",
    "crowbar": "lever",
    "cup": "top",
    "date": "quote",
    "east": "this",
    "election": "choice",
    "familiar": "family",
    "fresh": "cool",
    "histories": "stories",
    "history": "story",
    "lame": "get",
    "lean": "support",
    "lose": "miss",
    "lost": "missed",
    "marks": "make makes",
    "marries": "home house",
    "means": "half",
    "miles": "thousands",
    "mould": "cast",
    "neighborhood": "quarter",
    "official": "officials",
    "paste": "hit",
    "raisin": "happens passes spends",
    "raisins": "spend",
    "rectum": "straight",
    "road": "via",
    "roughly": "about",
    "sad": "sorry",
    "seat": "feel",
    "sequela": "sequel",
    "slice": "market",
    "spend": "happen pass",
    "spends": "happens passes",
    "spent": "happened passed",
    "stick": "post",
    "stops": "for",
    "taxes": "rates",
    "tent": "shop",
    "time": "times",
    "tin": "can",
    "touch": "play",
    "touched": "played",
    "touches": "plays",
    "touching": "playing",
    "utmost": "great",
    "voucher": "ok okay",
    "want": "love",
    "wanted": "loved",
}


def _pairs(slips: dict[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset((ours, theirs) for theirs, words in slips.items() for ours in words.split())


CONFUSED = _pairs(_MEANING)  # (the original's word, what came back)
SLIPS = CONFUSED | _pairs(_GRAMMAR)
ODD = frozenset(("lame", "marries", "raisin", "raisins", "rectum", "voucher"))  # never meant, whatever the original
