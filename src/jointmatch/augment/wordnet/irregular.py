"""English verbs with an irregular past or participle: lemma -> (past, participle)."""

from __future__ import annotations

_TABLE = """
arise arose arisen|awake awoke awoken|bear bore borne|beat beat beaten|become became become|begin began begun
bend bent bent|bet bet bet|bind bound bound|bite bit bitten|bleed bled bled|blow blew blown|break broke broken
breed bred bred|bring brought brought|broadcast broadcast broadcast|build built built|burst burst burst
buy bought bought|cast cast cast|catch caught caught|choose chose chosen|cling clung clung|come came come
cost cost cost|creep crept crept|cut cut cut|deal dealt dealt|dig dug dug|do did done|draw drew drawn
drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed fed|feel felt felt|fight fought fought
find found found|flee fled fled|fling flung flung|fly flew flown|forbid forbade forbidden|forecast forecast forecast
foresee foresaw foreseen|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got got
give gave given|go went gone|grind ground ground|grow grew grown|hang hung hung|have had had|hear heard heard
hide hid hidden|hit hit hit|hold held held|hurt hurt hurt|keep kept kept|kneel knelt knelt|know knew known
lay laid laid|lead led led|leave left left|lend lent lent|let let let|lie lay lain|light lit lit|lose lost lost
make made made|mean meant meant|meet met met|mislead misled misled|mistake mistook mistaken|outdo outdid outdone
overcome overcame overcome|override overrode overridden|oversee oversaw overseen|overtake overtook overtaken
overthrow overthrew overthrown|partake partook partaken|pay paid paid|prove proved proven|put put put|quit quit quit
read read read|rebuild rebuilt rebuilt|repay repaid repaid|rid rid rid|ride rode ridden|ring rang rung|rise rose risen
run ran run|say said said|see saw seen|seek sought sought|sell sold sold|send sent sent|set set set
shake shook shaken|shed shed shed|shine shone shone|shoot shot shot|show showed shown|shrink shrank shrunk
shut shut shut|sing sang sung|sink sank sunk|sit sat sat|slay slew slain|sleep slept slept|slide slid slid
slit slit slit|speak spoke spoken|speed sped sped|spend spent spent|spin spun spun|split split split
spread spread spread|spring sprang sprung|stand stood stood|steal stole stolen|stick stuck stuck|sting stung stung
stink stank stunk|stride strode stridden|strike struck struck|string strung strung|strive strove striven
swear swore sworn|sweep swept swept|swell swelled swollen|swim swam swum|swing swung swung|take took taken
teach taught taught|tear tore torn|tell told told|think thought thought|throw threw thrown|thrust thrust thrust
undergo underwent undergone|understand understood understood|undertake undertook undertaken|undo undid undone
uphold upheld upheld|upset upset upset|wake woke woken|wear wore worn|weave wove woven|weep wept wept|win won won
wind wound wound|withdraw withdrew withdrawn|withhold withheld withheld|withstand withstood withstood
wring wrung wrung|write wrote written
"""

IRREGULAR_VERBS: dict[str, tuple[str, str]] = {
    lemma: (past, participle)
    for lemma, past, participle in (verb.split() for line in _TABLE.strip().splitlines() for verb in line.split("|"))
}
