"""Many arrays in one transfer."""

import numpy as np
import torch

from jointmatch.networks.devices import all_on_device, read_later


def test_arrays_of_every_kind_and_size_arrive_as_they_were():
    """Three bytes between eight-byte numbers: what follows must still stand where its kind can be read."""
    arrays = [
        np.arange(6).reshape(2, 3),
        np.array([True, False, True]),
        np.array([[2**62, -5]]),
        np.array([[1, 2], [3, 4]], dtype=np.int32).T,
        np.zeros((0, 4)),
        np.array(2.5, dtype=np.float32),
    ]
    found = all_on_device(arrays, torch.device("cpu"))
    for tensor, array in zip(found, arrays, strict=True):
        assert tensor.shape == array.shape
        assert tensor.numpy().dtype == array.dtype
        np.testing.assert_array_equal(tensor.numpy(), array)


def test_on_a_cpu_what_is_read_later_is_the_very_tensor():
    asked = torch.tensor([1.0, 2.0])
    assert read_later(asked)() is asked
