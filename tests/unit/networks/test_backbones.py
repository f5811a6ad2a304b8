"""Finding and loading backbones, and one clear message where that fails."""

import io
import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from jointmatch.errors import InputError, UnknownNameError
from jointmatch.networks import Backbone, Tokenizer, find_backbone, load_tokenizer, load_transformer


@pytest.fixture
def folder(tiny_backbone, tmp_path):
    """A copy of the tiny backbone to break."""
    return shutil.copytree(tiny_backbone, tmp_path / "backbone")


@pytest.fixture
def offline(monkeypatch):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def load(name):
    backbone = find_backbone(str(name))
    return load_tokenizer(backbone), load_transformer(backbone)


def rewrite(path, change):
    path.write_text(change(path.read_text()))


def without_tokenizer(folder):
    for path in folder.iterdir():
        if "token" in path.name or "vocab" in path.name:
            path.unlink()


def cut_weights(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])


def test_auto_is_the_embedded_backbone():
    assert find_backbone("auto") == find_backbone("minilm")
    assert find_backbone("auto").name == "minilm"
    assert not find_backbone("auto").is_folder


def test_a_folder_is_found_and_loads(tiny_backbone):
    tokenizer, transformer = load(tiny_backbone)
    assert find_backbone(str(tiny_backbone)).is_folder
    assert tokenizer.is_fast
    assert transformer.config.hidden_size == 16
    assert all(p.dtype == torch.float32 for p in transformer.parameters())


@pytest.mark.parametrize(
    ("name", "hint"), [("minlm", "Did you mean 'minilm'"), ("./no/folder", "a folder"), ("/no/such/folder", "hub name")]
)
def test_a_name_that_is_nothing_is_refused_with_what_is_wanted(name, hint):
    with pytest.raises(UnknownNameError, match=hint) as caught:
        find_backbone(name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", ["bert-base-uncased", "roberta-base", "some/encoder"])
def test_a_hub_name_is_found_without_asking_the_hub(name):
    assert find_backbone(name).source == name


@pytest.mark.parametrize("name", ["bert-base-cased", "roberta-large", "answerdotai/ModernBERT-large"])
def test_a_hub_name_that_resembles_a_known_one_is_a_hub_name_too(name):
    assert find_backbone(name).source == name


@pytest.mark.parametrize("loader", [load_tokenizer, load_transformer])
def test_a_hub_name_offline_gives_one_clear_error(offline, loader):
    with pytest.raises(InputError, match=r"'some/encoder' could not be loaded \(hub\).*minilm") as caught:
        loader(find_backbone("some/encoder"))
    assert "\n" not in str(caught.value)


def test_a_hub_that_does_not_answer_is_asked_only_once(monkeypatch):
    class Unreachable:
        def head(self, url, timeout):
            raise OSError("no route to host")

    asked = []
    monkeypatch.setattr("huggingface_hub.utils.get_session", lambda: Unreachable())
    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", lambda *args, **kwargs: asked.append(args))
    with pytest.raises(InputError, match=r"\(hub\): no route to host\. Check the name and the connection"):
        load_tokenizer(find_backbone("some/encoder"))
    assert not asked


def test_a_folder_without_config_is_refused_before_any_work(folder):
    (folder / "config.json").unlink()
    with pytest.raises(InputError, match=r"no config\.json"):
        find_backbone(str(folder))


def test_a_config_that_is_not_json_is_refused_before_any_work(folder):
    rewrite(folder / "config.json", lambda text: text[:20])
    with pytest.raises(InputError, match=r"config\.json is not JSON"):
        find_backbone(str(folder))


def test_a_folder_without_safetensors_is_refused_before_any_work(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="safetensors"):
        find_backbone(str(folder))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda f: (f / "config.json").write_text("{}"), id="config of no model"),
        pytest.param(lambda f: rewrite(f / "tokenizer.json", lambda text: text[:50]), id="broken tokenizer"),
        pytest.param(
            cut_weights,
            id="cut weights",
        ),
        pytest.param(
            lambda f: (f / "config.json").write_text("[]"),
            id="config is a list",
        ),
        pytest.param(
            lambda f: rewrite(f / "config.json", lambda t: t.replace('"hidden_size": 16', '"hidden_size": 32')),
            id="weights of another size",
        ),
        pytest.param(
            without_tokenizer,
            id="no tokenizer",
        ),
    ],
)
def test_a_damaged_folder_gives_one_clear_error(folder, damage):
    damage(folder)
    with pytest.raises(InputError):
        load(folder)


def test_an_encoder_decoder_is_refused(folder):
    from transformers import T5Config, T5Model

    shape = T5Config(vocab_size=20, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    T5Model(shape).save_pretrained(folder)
    with pytest.raises(InputError, match=r"encoder-decoder \(t5\)"):
        load_transformer(find_backbone(str(folder)))


def test_the_fingerprint_is_of_the_content_and_not_of_the_place(tiny_backbone, folder):
    assert find_backbone(str(folder)).fingerprint() == find_backbone(str(tiny_backbone)).fingerprint()


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "vocab.txt"])
def test_the_fingerprint_changes_with_what_features_depend_on(tiny_backbone, folder, name):
    with (folder / name).open("ab") as file:
        file.write(b" ")
    assert find_backbone(str(folder)).fingerprint() != find_backbone(str(tiny_backbone)).fingerprint()


def test_new_weights_in_the_same_folder_have_a_new_fingerprint(folder):
    before = find_backbone(str(folder)).fingerprint()
    weights = load_file(folder / "model.safetensors")
    save_file({name: w + 1 for name, w in weights.items()}, folder / "model.safetensors", metadata={"format": "pt"})
    assert find_backbone(str(folder)).fingerprint() != before


@pytest.mark.parametrize("pooler", [True, False])
def test_loading_leaves_the_callers_random_stream_alone(folder, pooler):
    weights = load_file(folder / "model.safetensors")
    kept = {name: w for name, w in weights.items() if pooler or "pooler" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    before = torch.get_rng_state()
    load_transformer(find_backbone(str(folder)))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("load", [load_transformer, load_tokenizer])
def test_code_in_a_folder_is_never_run(tmp_path, tiny_backbone, monkeypatch, load):
    """A folder may name classes of its own; transformers would ask, and run them at a "y" on the input."""
    folder = tmp_path / "evil"
    shutil.copytree(tiny_backbone, folder)
    (folder / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    names = {"AutoConfig": "mine.C", "AutoModel": "mine.M", "AutoTokenizer": ["mine.T", None]}
    for name, changed in (("config.json", {"model_type": "mine"}), ("tokenizer_config.json", {})):
        facts = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({**facts, **changed, "auto_map": names, "tokenizer_class": "T"}))
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 9))
    with pytest.raises(InputError):
        load(find_backbone(str(folder)))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("kind", "positions", "room"), [("bert", 40, 40), ("roberta", 42, 40), ("mpnet", 42, 40)])
@torch.no_grad()
def test_texts_are_cut_at_the_positions_an_encoder_has_where_its_tokenizer_does_not_say_it(
    folder, kind, positions, room
):
    from transformers import AutoConfig, AutoModel

    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    config = AutoConfig.for_model(
        kind, **sizes, vocab_size=500, max_position_embeddings=positions, pad_token_id=0 if kind == "bert" else 1
    )
    AutoModel.from_config(config).save_pretrained(folder)
    rewrite(
        folder / "tokenizer_config.json",
        lambda text: json.dumps({**json.loads(text), "model_max_length": 10**30}),
    )
    pretrained, transformer = load(folder)
    tokens = Tokenizer(pretrained, 512)(["goal " * 100])
    assert tokens.ids.shape == (1, room)
    assert transformer(input_ids=tokens.ids).last_hidden_state.shape == (1, room, 8)


def test_a_tokenizer_by_itself_keeps_its_own_limit(folder):
    (folder / "config.json").unlink()
    assert load_tokenizer(Backbone("tiny", str(folder))).model_max_length >= 64
