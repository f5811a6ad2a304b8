"""Experiment files: what they inherit, what they say, and what is wrong with them."""

import pytest

from jointmatch.benchmark import load, shipped
from jointmatch.benchmark.cell import all_cells
from jointmatch.errors import ConfigError, DataError, UnknownNameError
from tests.unit.benchmark.conftest import ROOT

BASE = """
title = "Base"
data = { ag_news = [5, 10], imdb = 10 }
seeds = 3
settings.training = { mode = "lite", steps = 20 }
[variants.first]
title = "First"
algorithm.tau = 0.5
paper.ag_news = { 5 = 70.5, 10 = { accuracy = [80.25, 1.5], macro_f1 = 79 } }
[variants.second]
algorithm.name = "fixmatch"
"""


def test_a_file_says_data_labels_seeds_and_variants(written):
    found = written(BASE)
    assert found.data == {"ag_news": [5, 10], "imdb": [10]}
    assert found.seeds == [0, 1, 2]
    assert list(found.variants) == ["first", "second"]
    assert found.variants["first"].title == "First"
    assert found.settings_of("first", "imdb") == {"training": {"mode": "lite", "steps": 20}, "algorithm": {"tau": 0.5}}


def test_the_papers_numbers_are_a_number_or_a_mean_with_its_spread(written):
    numbers = written(BASE).variants["first"].paper["ag_news"]
    assert numbers == {5: {"accuracy": [70.5]}, 10: {"accuracy": [80.25, 1.5], "macro_f1": [79]}}


def test_a_file_adds_to_what_it_extends_and_says_its_data_anew(written):
    written(BASE, "base")
    child = written(
        """
        extends = "base"
        data = { hurricane = 10 }
        rows = ["third", "first"]
        settings.training.steps = 40
        variants.third.algorithm.tau = 0.7
        variants.first.algorithm.delta = 0.8
        """
    )
    assert child.title == "Base"
    assert child.data == {"hurricane": [10]}
    assert list(child.variants) == ["third", "first"]
    assert child.settings == {"training": {"mode": "lite", "steps": 40}}
    assert child.variants["first"].settings == {"algorithm": {"tau": 0.5, "delta": 0.8}}


def test_new_variants_of_an_extending_file_are_rows_even_where_those_it_extends_are_listed(written, tmp_path):
    written('rows = ["first"]\nagainst = "first"' + BASE, "base")
    child = written('extends = "base"\nvariants.third.algorithm.tau = 0.7\nvariants.first.algorithm.delta = 0.8\n')
    assert list(child.variants) == ["first", "third"]  # second, which the other file leaves out, stays out
    assert child.against == "first"
    crossed = 'rows = ["tau 0.9"]\ndata = { demo = 5 }\ncross."algorithm.tau" = [0.8, 0.9]\n'
    written(crossed, "crossed")
    tweaked = written('extends = "crossed"\nvariants."tau 0.8".algorithm.delta = 0.9\n')
    assert list(tweaked.variants) == ["tau 0.9"]  # the other is left out there, and new to nobody
    with pytest.raises(ConfigError, match="there is no data"):
        written(
            'extends = "odd"\nvariants.b.algorithm.tau = 0.7\n',
            read=written("variants = 3\n", "odd", read=False) is None,
        )
    alone = written('extends = "base"\nrows = ["third"]\nagainst = ""\nvariants.third.algorithm.tau = 0.7\n')
    assert list(alone.variants) == ["third"]
    assert alone.against is None


def test_a_file_that_is_extended_by_its_path_is_looked_for_beside_the_one_that_names_it(written, tmp_path, monkeypatch):
    written(BASE, "base")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert list(written('extends = "base.toml"\n').variants) == ["first", "second"]
    (elsewhere / "only_here.toml").write_text(BASE, encoding="utf-8")
    assert list(written('extends = "only_here.toml"\n').variants) == ["first", "second"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("settings.training.seed = 7", "settings has training.seed, but seeds says which there are"),
        ("on.imdb.output.baselines = true", "on.imdb has output.baselines, but a benchmark keeps records of its own"),
        (
            'variants.first.data.text_column = "x"',
            "variant 'first' has data.text_column, but the files of a benchmark have",
        ),
        (
            'variants.first.data.label_column = "x"',
            "variant 'first' has data.label_column, but the files of a benchmark",
        ),
        ('cross."training.seed" = [0, 1]', "cross has training.seed, but seeds says which there are"),
        ("variants.first.on.imdb.training.seed = 7", "variant 'first', on.imdb has training.seed, but seeds says"),
    ],
)
def test_settings_that_would_do_nothing_are_refused(written, line, said):
    with pytest.raises(ConfigError, match=said):
        written('extends = "base"\n' + line, read=written(BASE, "base") is not None)


def test_a_misspelt_row_is_not_said_twice_by_what_others_are_compared_with(written):
    with pytest.raises(ConfigError) as error:
        written('rows = ["frist", "second"]\nagainst = "first"' + BASE)
    assert len(error.value.faults) == 1


def test_the_parts_of_an_experiment_are_its_data_sets_and_numbers_of_labels(written):
    found = written(BASE)
    assert [part.data for part in found.parts()] == [{"ag_news": [5]}, {"ag_news": [10]}, {"imdb": [10]}]
    assert found.parts()[0].parts() == [found.parts()[0]]


def test_settings_on_one_data_set_stand_over_the_general_and_a_variants_own_over_both(written):
    found = written(
        """
        data = { ag_news = 10, imdb = 10 }
        settings.network.max_length = 64
        on.imdb = { network.max_length = 256, training.steps = 10 }
        [variants.a]
        on.imdb.training.steps = 20
        """
    )
    assert found.settings_of("a", "ag_news") == {"network": {"max_length": 64}}
    assert found.settings_of("a", "imdb") == {"network": {"max_length": 256}, "training": {"steps": 20}}


def test_a_variant_like_another_has_its_settings_but_neither_its_title_nor_its_numbers(written):
    found = written(
        """
        data = { ag_news = 10 }
        [variants.a]
        title = "A"
        algorithm = { tau = 0.5, delta = 0.7 }
        on.ag_news.training.steps = 5
        paper.ag_news.10 = 50
        [variants.b]
        like = "a"
        algorithm.tau = 0.6
        """
    )
    b = found.variants["b"]
    assert b.settings == {"algorithm": {"tau": 0.6, "delta": 0.7}}
    assert b.on == {"ag_news": {"training": {"steps": 5}}}
    assert (b.title, b.paper) == ("b", {})


def test_cross_makes_a_variant_of_each_combination_and_named_ones_add_to_it(written):
    found = written(
        """
        data = { ag_news = 10 }
        [cross]
        "algorithm.name" = ["uda", "sat"]
        "training.steps" = [10, 20]
        [variants."sat, steps 20".network]
        count = 2
        """
    )
    assert list(found.variants) == ["uda, steps 10", "uda, steps 20", "sat, steps 10", "sat, steps 20"]
    own = found.variants["sat, steps 20"].settings
    assert own == {"algorithm": {"name": "sat"}, "training": {"steps": 20}, "network": {"count": 2}}


def test_all_faults_of_a_file_are_said_at_once(written):
    with pytest.raises(ConfigError) as error:
        written('titel = "x"\ndata = 3\nseeds = true\nvariants.a.algorithm.tau = 0.5')
    assert "unknown key 'titel'. Did you mean 'title'?" in str(error.value)
    assert "data is 3, wanted table" in str(error.value)
    assert "seeds is True, wanted int or list" in str(error.value)


def test_faults_inside_the_keys_are_said_at_once_too(written):
    """Those in names are left out only where it is unknown which variants there are."""
    wrong = """
    titel = "x"
    data = { "../x" = 10 }
    seeds = [true]
    imbalance = nan
    cross."algorithm.tau" = []
    [variants]
    a.like = ["b"]
    b.like = "b"
    c.paper.mine.10 = [101, 1]
    """
    with pytest.raises(ConfigError) as error:
        written(wrong)
    assert error.value.faults == [
        "mine: unknown key 'titel'. Did you mean 'title'?",
        "mine: data has '../x', wanted a data set's name: that of one folder, without / or \\",
        "mine: seeds is [True], wanted a number of seeds, or a list of seeds from 0 to 4294967295",
        "mine: imbalance is nan, wanted how many times rarer the rarest class is, such as 10",
        "mine: variant 'c': paper.mine.10 is [101, 1], wanted a number, or [mean, standard deviation], in percent",
        "mine: variant 'b' is like itself, wanted the name of another variant",
        "mine: cross has 'algorithm.tau' = [], wanted a setting and its values, such as \"algorithm.tau\" = [0.9]",
        "mine: variant 'a': like is ['b'], wanted the name of another variant",
    ]
    with pytest.raises(ConfigError) as error:
        written('suite = "race"\nseeds = 0\nvariants.a.like = "b"\noptions.levels = [1]')
    assert error.value.faults == [
        "mine: there is no data, wanted a data set and labels per class, such as data = { ag_news = 10 }",
        "mine: seeds is 0, wanted 1 to 1000, or a list of seeds from 0 on",
        "mine: variant 'a' is like 'b', of which there is none.",
        "mine: options has no 'together', which the suite race must be told",
    ]
    with pytest.raises(ConfigError) as error:
        written('suite = "data"\ntitel = "x"\nseeds = 3')
    assert error.value.faults == [
        "mine: unknown key 'titel'. Did you mean 'title'?",
        "mine: seeds is for runs, and the suite data makes none",
        "mine: there are no options, wanted [options.NAME] for each table",
    ]


def test_variants_that_are_like_each_other_in_a_circle_are_named_once(written):
    """d leads into the circle of b and c, but is not part of it."""
    with pytest.raises(ConfigError) as error:
        written(
            """
            data = { ag_news = 10 }
            [variants]
            a = {}
            d.like = "b"
            b.like = "c"
            c.like = "b"
            e.like = "a"
            """
        )
    assert error.value.faults == ["mine: variant 'b' is like itself, by way of c, wanted the name of another variant"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("variants.a = {}", "there is no data"),
        ("data = { ag_news = 0 }\nvariants.a = {}", "data.ag_news is 0"),
        ("data = { ag_news = 10 }", "there are no variants"),
        ("data = { ag_news = 10 }\nseeds = 0\nvariants.a = {}", "seeds is 0"),
        ("data = { ag_news = 10 }\nvariants.a.algoritm.tau = 1", "unknown key 'algoritm'. Did you mean 'algorithm'?"),
        ('data = { ag_news = 10 }\nrows = ["b"]\nvariants.a = {}', "there is no variant 'b'"),
        ('data = { ag_news = 10 }\nagainst = "b"\nvariants.a = {}', "against is 'b', which is no row"),
        ('data = { ag_news = 10 }\nagainst = "b"\nrows = ["a"]\nvariants = { a = {}, b = {} }', "which is no row"),
        ("data = { ag_news = 10 }\nvariants.a = 3", "variant 'a' is 3, wanted a table"),
        ("data = { ag_news = 10 }\nvariants.a.paper.ag_news = 3", "paper.ag_news is 3, wanted labels = number"),
        ("data = { ag_news = 10 }\nvariants.a.paper.ag_news.ten = 3", "wanted labels = number"),
        (
            "data = { ag_news = 10 }\nvariants.a.paper.ag_news.10 = 'high'",
            "paper.ag_news.10 is 'high', wanted a number",
        ),
        ("data = { ag_news = 10 }\nvariants.a.paper.ag_news.10 = []", "paper.ag_news.10 is [], wanted a number"),
        ("data = { ag_news = 10 }\nvariants.a.paper.ag_news.10 = [1, 2, 3]", "is [1, 2, 3], wanted a number"),
        ("data = { ag_news = 10 }\nvariants.a.paper.ag_news.10 = [80, -1]", "is [80, -1], wanted a number"),
        ("data = { ag_news = 10 }\nvariants.a.paper.ag_news.10 = -0.5", "is -0.5, wanted a number"),
        ("data = { ag_news = 10 }\nvariants.a.paper.ag_news.10.macro_f1 = 100.5", "is 100.5, wanted a number"),
        ("data = { ag_news = 10 }\nvariants.a.paper.ag_news.0 = 80", "wanted labels = number"),
        ("data = { ag_news = 10 }\nvariants.a.paper.ag_news.'²' = 80", "wanted labels = number"),
        ("data = { ag_news = 10 }\nvariants.a.paper.ag_news.10.acuracy = 80", "Did you mean 'accuracy'?"),
        ("data = { ag_news = 10 }\nvariants.a.paper.agnews.10 = 80", "paper has 'agnews', which is not in data. Did"),
        (
            "data = { imdb = 10 }\non.imbd.network.max_length = 9\nvariants.a = {}",
            "on has 'imbd', which is not in data.",
        ),
        ("data = { ag_news = 10 }\nvariants.a.on.agnews.training.steps = 9", "'a': on has 'agnews', which is not in"),
        ("data = { ag_news = 10 }\nvariants.a.title = 5", "variant 'a': title is 5, wanted text"),
        ("data = { ag_news = true }\nvariants.a = {}", "data.ag_news is True, wanted labels per class"),
        ("data = { ag_news = [10, 10] }\nvariants.a = {}", "wanted each number of labels once"),
        ("data = { ag_news = [1, true] }\nvariants.a = {}", "data.ag_news is [1, True], wanted labels per class"),
        ("data = { '' = 10 }\nvariants.a = {}", "data has '', wanted a data set's name"),
        ("data = { '.' = 10 }\nvariants.a = {}", "data has '.', wanted a data set's name"),
        ("data = { '..' = 10 }\nvariants.a = {}", "data has '..', wanted a data set's name"),
        ("data = { '/x' = 10 }\nvariants.a = {}", "data has '/x', wanted a data set's name"),
        ("data = { 'a\\b' = 10 }\nvariants.a = {}", "data has 'a\\\\b', wanted a data set's name"),
        ("data = { ag_news = 10 }\nrows = []\nvariants.a = {}", "rows is [], wanted the names of variants"),
        ("data = { ag_news = 10 }\nseeds = []\nvariants.a = {}", "seeds is []"),
        ("data = { ag_news = 10 }\ncross.tau = [1]", "cross has 'tau' = [1], wanted a setting"),
        ("data = { ag_news = 10 }\ncross.'algorithm.tau' = 1", "wanted a setting and its values"),
        ("data = { ag_news = 10 }\ncross.'algorithm.tau' = []\nvariants.a = {}", "wanted a setting and its values"),
        (
            "data = { ag_news = 10 }\nvariants.a.like = { b = 1 }",
            "like is {'b': 1}, wanted the name of another variant",
        ),
        ('data = { ag_news = 10 }\nvariants.a.like = "a"', "variant 'a' is like itself, wanted"),
        ('data = { ag_news = 10 }\nvariants = { abc = {}, b.like = "abd" }', "there is none. Did you mean 'abc'?"),
        ('data = { ag_news = 10 }\nvariants.a.like = "b"', "is like 'b', of which there is none"),
        ('data = { ag_news = 10 }\nreferences = ["svm"]\nvariants.a = {}', "references has 'svm'"),
        ('data = { ag_news = 10 }\ncolumns = ["acuracy"]\nvariants.a = {}', "Did you mean 'accuracy'?"),
        ("data = { ag_news = 10 }\non.ag_news = 3\nvariants.a = {}", "on.ag_news is 3, wanted a table"),
        ("data = { ag_news = 10 }\nvariants.a.on.ag_news = 3", "variant 'a': on is {'ag_news': 3}, wanted a table"),
        ("data = { ag_news = 10 }\nvariants.a.paper = 3", "variant 'a': paper is 3, wanted a table"),
        (
            "data = { ag_news = 10 }\nseeds = [-1, 0]\nvariants.a = {}",
            "wanted a number of seeds, or a list of seeds from 0",
        ),
        ("data = { ag_news = 10 }\nseeds = 1001\nvariants.a = {}", "seeds is 1001, wanted 1 to 1000"),
        ("data = { ag_news = 10 }\nseeds = [4294967296]\nvariants.a = {}", "a list of seeds from 0 to 4294967295"),
        ('suite = "grud"', "suite is 'grud'. Did you mean 'grid'? Known: grid, data, speed, race"),
        ("data = { ag_news = 10 }\nseeds = [0, 0]\nvariants.a = {}", "wanted each seed once"),
        ("data = { ag_news = 10 }\nimbalance = 0\nvariants.a = {}", "imbalance is 0, wanted how many times rarer"),
        ("data = { ag_news = 10 }\nimbalance = inf\nvariants.a = {}", "imbalance is inf, wanted how many times rarer"),
        ('suite = "speed"', "options has no 'ways', which the suite speed must be told"),
        ("suite = ['speed']", "suite is ['speed'], wanted text"),
        ('suite = "speed"\nseeds = 3', "seeds is for runs, and the suite speed makes none"),
        ('suite = "data"\ndata = { ag_news = 10 }', "data is for runs, and the suite data makes none"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(written, text, fault):
    with pytest.raises(ConfigError, match=r"mine: ") as error:
        written(text)
    assert fault in str(error.value)


def test_a_file_that_extends_itself_is_an_error(written):
    written('extends = "b"', "a", read=False)
    with pytest.raises(ConfigError, match="extends itself, by way of b -> a"):
        written('extends = "a"', "b")


def test_an_unknown_name_is_an_error_that_knows_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'labels'"):
        load("labls")
    with pytest.raises(DataError, match="no config file"):
        load("nowhere.toml")


def test_variants_are_named_by_patterns_in_the_experiments_order(written):
    found = written(BASE)
    assert found.named(["sec*", "first"]) == ["first", "second"]
    with pytest.raises(UnknownNameError, match=r"has no variant 'frst'\. Did you mean 'first'"):
        found.named(["frst"])


FILES = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "benchmarks").rglob("*.toml"))


@pytest.mark.parametrize("name", [*shipped(), *FILES])
def test_every_experiment_there_is_can_be_planned(name):
    """Every setting of every variant is known and fits."""
    found = load(ROOT / name if name.endswith(".toml") else name)
    if found.suite == "grid":
        assert all(row[0].key for row in all_cells(found))


def test_the_lite_twins_are_a_few_lines():
    folder = ROOT / "src/jointmatch/benchmark/experiments"
    twins = [f for f in folder.glob("*_lite.toml") if (folder / f.name.replace("_lite", "")).is_file()]
    assert len(twins) > 4
    for twin in twins:
        if 'extends = "_' not in (text := twin.read_text(encoding="utf-8")):
            assert len(text.splitlines()) <= 8
