"""Which device is taken, and how much memory there is to take."""

import pytest
import torch

from jointmatch.errors import InputError
from jointmatch.networks import devices, free_memory

CPU = torch.device("cpu")


def test_it_is_read_where_the_machine_says_it(tmp_path, monkeypatch):
    told = tmp_path / "meminfo"
    told.write_text("MemTotal:  4000 kB\nMemFree:  1000 kB\nMemAvailable:  3000 kB\n")
    monkeypatch.setattr(devices, "MEMORY", told)
    assert free_memory(CPU) == 3000 * 1024


def test_elsewhere_it_is_not_known(tmp_path, monkeypatch):
    monkeypatch.setattr(devices, "MEMORY", tmp_path / "none")
    assert free_memory(CPU) is None
    (tmp_path / "some").write_text("MemTotal:  4000 kB\n")
    monkeypatch.setattr(devices, "MEMORY", tmp_path / "some")
    assert free_memory(CPU) is None


def test_it_is_a_number_of_bytes_on_this_machine():
    found = free_memory(CPU)
    assert found is None or found > 2**20


def test_a_gpu_that_is_named_by_its_number_is_the_current_one(monkeypatch):
    chosen: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    assert devices.find_device("cuda") == torch.device("cuda")
    assert chosen == []
    assert devices.find_device("cuda:1") == torch.device("cuda:1")
    assert chosen == [torch.device("cuda:1")]
    with pytest.raises(InputError, match=r"'cuda:2' was asked for, but torch sees 2 GPU\(s\), counted from 0\."):
        devices.find_device("cuda:2")
