"""Where the splits come from: the user's files, or a named data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jointmatch.config import DataConfig
from jointmatch.data.datasets import BENCHMARKS, is_known, load_benchmark
from jointmatch.data.load import load_splits
from jointmatch.data.splits import Splits
from jointmatch.data.tables import check_file
from jointmatch.errors import DataError, did_you_mean


@dataclass(frozen=True)
class Source:
    """The data that the user named; the seed decides which labels are drawn from it."""

    labeled: str
    unlabeled: Sequence[Path] = ()
    dev: Path | None = None
    test: Path | None = None
    labels_per_class: int | None = None
    data_dir: Path | None = None
    config: DataConfig = field(default_factory=DataConfig)

    @property
    def is_data_set(self) -> bool:
        """Whether the name is that of a data set; a file of the same name takes precedence."""
        return not Path(self.labeled).exists() and is_known(self.labeled, self.data_dir)

    def check(self) -> None:
        """Report missing files early, without reading any."""
        if self.is_data_set:
            if self.labels_per_class is None:
                raise DataError(f"{self.labeled} is a data set: say how many labels with --labels-per-class.")
        elif not Path(self.labeled).exists() and not Path(self.labeled).suffix:
            near = did_you_mean(self.labeled, BENCHMARKS)
            raise DataError(f"There is no file {self.labeled}, and no data set of that name.{near}")
        else:
            check_file(self.labeled)
        for path in (*self.unlabeled, self.dev, self.test):
            if path is not None:
                check_file(path)

    def splits(self, seed: int) -> Splits:
        """Read everything."""
        self.check()
        if self.is_data_set:
            assert self.labels_per_class is not None  # ensured by check()
            return load_benchmark(self.labeled, self.labels_per_class, seed, self.data_dir)
        return load_splits(self.labeled, self.unlabeled, self.dev, self.test, self.config, self.labels_per_class, seed)
