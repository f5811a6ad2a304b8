"""Ctrl-C as a wish to stop in order."""

import os
import signal
import threading

import pytest

from jointmatch.training.stopping import StopRequest


def press(number=signal.SIGINT, times=1):
    for _ in range(times):
        os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_a_wish(number):
    with StopRequest() as stop:
        assert not stop.wanted
        press(number)
        assert stop.wanted


def test_the_second_signal_stops_at_once():
    with pytest.raises(KeyboardInterrupt), StopRequest():
        press(times=2)


def test_afterwards_the_old_handlers_are_back():
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    with StopRequest():
        assert signal.getsignal(signal.SIGINT) != before[signal.SIGINT]
    assert {n: signal.getsignal(n) for n in before} == before


def test_in_another_thread_it_does_nothing_and_does_not_fail():
    wanted = []

    def work():
        with StopRequest() as stop:
            wanted.append(stop.wanted)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert wanted == [False]
