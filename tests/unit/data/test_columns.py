"""Finding the text and the label column, and saying what to do when they cannot be found."""

import pytest

from jointmatch.data.columns import doubtful_header, label_column, named_column, require_label_column, text_column
from jointmatch.errors import DataError

SENTENCE = ["a few words here", "and some more of them"]
IDS = ["17", "18"]


def table(*names: str) -> dict[str, list]:
    return dict.fromkeys(names, SENTENCE)


@pytest.mark.parametrize("name", ["text", "Text", " TEXT ", "message", "body", "review", "title"])
def test_a_usual_name_is_found_whatever_its_case(name):
    assert text_column({"id": IDS, name: ["x", "y"], "extra": SENTENCE}, None, "f.csv") == name


def test_the_more_usual_name_wins():
    assert text_column(table("title", "body", "text"), None, "f.csv") == "text"


def test_the_only_wordy_column_will_do():
    columns: dict[str, list] = {"id": IDS, "anliegen": SENTENCE, "label": SENTENCE, "n": [1, 2]}
    assert text_column(columns, None, "f.csv") == "anliegen"


def test_the_label_column_the_user_named_is_not_taken_for_the_text():
    assert text_column(table("anliegen", "abteilung"), None, "f.csv", avoid="abteilung") == "anliegen"


def test_a_label_column_with_a_usual_text_name_is_not_taken_for_the_text():
    assert text_column(table("message", "body"), None, "f.csv", avoid="message") == "body"


@pytest.mark.parametrize("columns", [{"id": IDS, "n": [1, 2]}, {"one": SENTENCE, "two": SENTENCE}, {}])
def test_no_text_column_names_the_columns_found_and_the_option(columns):
    with pytest.raises(DataError) as raised:
        text_column(columns, None, "f.csv")
    message = str(raised.value)
    assert message.startswith("f.csv: no text column found among")
    assert all(repr(name) in message for name in columns)
    assert "--text-column" in message


def test_a_column_almost_like_a_usual_name_is_suggested():
    with pytest.raises(DataError, match=r"Did you mean 'txet'\?"):
        text_column({"id": IDS, "txet": IDS}, None, "f.csv")


@pytest.mark.parametrize(
    ("find", "option"),
    [
        (lambda t, n: text_column(t, n, "f.csv"), "--text-column"),
        (lambda t, n: label_column(t, n, "f.csv"), "--label-column"),
        (lambda t, n: require_label_column(t, n, "body", "f.csv"), "--label-column"),
        (lambda t, n: named_column(t, n, "f.csv", "--weak-column"), "--weak-column"),
    ],
    ids=["text", "label", "needed label", "view"],
)
def test_a_named_column_that_is_not_there_gets_the_nearest_and_all_others(find, option):
    with pytest.raises(DataError) as raised:
        find(table("category", "body"), "catgory")
    message = str(raised.value)
    assert f"no column 'catgory' ({option})" in message
    assert "it has 'category', 'body'. Did you mean 'category'?" in message


def test_named_columns_are_taken_even_against_usual_names():
    assert text_column(table("text", "other"), "other", "f.csv") == "other"
    assert label_column(table("label", "other"), "other", "f.csv") == "other"
    assert named_column({"a": IDS}, "a", "f.csv", "--weak-column") == IDS


@pytest.mark.parametrize("name", ["label", "Class", "intent", "sentiment", "queue"])
def test_a_usual_label_name_is_found(name):
    assert label_column(table("text", "id", name), None, "f.csv") == name


def test_a_file_may_have_no_label_column():
    assert label_column(table("text", "id"), None, "f.csv") is None


def test_with_two_columns_the_one_that_is_not_the_text_is_the_label():
    assert require_label_column(table("text", "abteilung"), None, "text", "f.csv") == "abteilung"


def test_no_label_column_names_the_columns_and_suggests_the_nearest():
    with pytest.raises(DataError) as raised:
        require_label_column(table("text", "id", "lable"), None, "text", "f.csv")
    message = str(raised.value)
    assert "no label column found among 'text', 'id', 'lable'" in message
    assert "Did you mean 'lable'?" in message
    assert "--label-column" in message


@pytest.mark.parametrize("short", ["id", "tex", "typ"])
def test_a_name_of_under_four_letters_is_not_suggested(short):
    for find in (lambda t: text_column(t, None, "f.csv"), lambda t: require_label_column(t, None, "one", "f.csv")):
        with pytest.raises(DataError, match=r"column found among 'one', 'two', '\w+'\. Name it"):
            find(table("one", "two", short))


LONG = "a" * 41


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@pytest.mark.parametrize("name", ["where is it", LONG])
def test_a_name_that_reads_like_a_text_makes_a_header_doubtful(name, kind):
    (doubt,) = doubtful_header({name: IDS}, name, None, kind, "f.csv")
    assert doubt.startswith(f"f.csv: the first line was taken as the column's name ({name!r}), not as a text.")
    assert "put a line with a name above it" in doubt


@pytest.mark.parametrize(
    ("name", "named", "kind"),
    [
        ("customer message", None, "csv"),
        (LONG[1:], None, "csv"),
        ("where is it", "where is it", "csv"),
        ("where is it", None, "jsonl"),
        ("where is it", None, "parquet"),
        ("where is it", None, None),
    ],
    ids=["two words", "40 characters", "named", "jsonl", "parquet", "no file"],
)
def test_other_headers_are_not_doubted(name, named, kind):
    assert doubtful_header({name: IDS}, name, named, kind, "f.csv") == []


def test_a_long_first_line_is_cut_short_in_the_message():
    assert f"({'a' * 57 + '...'!r})" in doubtful_header({}, "a" * 500, None, "csv", "f.csv")[0]


def test_a_file_without_a_header_is_told_to_have_one():
    with pytest.raises(
        DataError, match=r"the first line \('the printer is on fire', 'it'\) reads like data\. Put a line"
    ):
        text_column({"the printer is on fire": [1], "it": ["x"]}, None, "f.csv")


SHORT: dict[str, list] = {"good film": SENTENCE, "positive": ["negative", " positive "]}


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_a_name_that_is_also_a_value_of_its_column_makes_a_header_doubtful(kind):
    (doubt,) = doubtful_header(SHORT, "good film", None, kind, "f.csv")
    assert doubt == (
        "f.csv: the first line ('good film', 'positive') was taken as names of columns, but 'positive' is also a value "
        "of its column. If the file has no header, put a line of names above it: text,label."
    )


@pytest.mark.parametrize(("named", "kind"), [("good film", "csv"), (None, "jsonl"), (None, "parquet"), (None, None)])
def test_it_is_not_doubtful_where_names_are_always_there_or_the_user_gave_one(named, kind):
    assert doubtful_header(SHORT, "good film", named, kind, "f.csv") == []


@pytest.mark.parametrize(
    ("header", "labels"),
    [
        (("text", "label"), ["a", "b"]),
        (("text", "label"), ["label", "b"]),
        (("review", "sentiment"), ["positive", "sentiment"]),
        (("Beschreibung", "Kategorie"), ["Rechnung", "Lieferung"]),
        (("Beschreibung", "Kategorie"), ["Kategorien", "kategorie"]),
        (("Anliegen", " Queue "), ["Queue", "Sales"]),
        (("customer message", "team"), ["sales", "support"]),
        (("0", "1"), ["0", "1"]),
    ],
    ids=str,
)
def test_ordinary_headers_are_not_doubted(header, labels):
    table = dict(zip(header, (SENTENCE, labels), strict=True))
    assert doubtful_header(table, header[0], None, "csv", "f.csv") == []


def test_a_header_that_stands_in_the_file_twice_is_a_header():
    table: dict[str, list] = {"Anliegen": ["Anliegen", *SENTENCE], "Team": ["Team", "sales", "support"]}
    assert doubtful_header(table, "Anliegen", None, "csv", "f.csv") == []


def test_more_columns_without_a_header_are_told_to_have_one():
    """The label cannot be guessed among two, and the first line's label stands further down, too."""
    table = {"17": ["18", "19"], **SHORT}
    with pytest.raises(
        DataError, match=r"the first line \('17', 'good film', 'positive'\) reads like data\. Put a line"
    ):
        require_label_column(table, None, "good film", "f.csv")
    with pytest.raises(DataError, match=r"the first line \('fine', 'positive'\) reads like data\. Put a line"):
        text_column({"fine": ["bad", "dull"], "positive": ["negative", "positive"]}, None, "f.csv")
