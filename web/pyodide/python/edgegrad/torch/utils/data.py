"""torch.utils.data."""

from __future__ import annotations

import bisect
from typing import Any, Callable, Iterable, Iterator, Sequence

from .._creation import randperm, tensor
from .._functions import find
from .._tensor import Tensor

_stack = find("stack")


class Dataset:
    """Samples by index: subclasses define __getitem__ and __len__."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("a Dataset defines __getitem__")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])

    def __class_getitem__(cls, item: Any) -> type:
        return cls


class IterableDataset(Dataset):
    """Samples one after the other: subclasses define __iter__."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("an IterableDataset defines __iter__")


class TensorDataset(Dataset):
    """The rows of tensors."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(one.shape[0] != tensors[0].shape[0] for one in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple:
        return tuple(one[index] for one in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class ConcatDataset(Dataset):
    """Several datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        self.cumulative_sizes: list[int] = []
        for one in self.datasets:
            self.cumulative_sizes.append(len(one) + (self.cumulative_sizes[-1] if self.cumulative_sizes else 0))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        place = index + len(self) if index < 0 else index
        which = bisect.bisect_right(self.cumulative_sizes, place)
        return self.datasets[which][place - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """Some samples of a dataset."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[[self.indices[i] for i in index] if isinstance(index, list) else self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Subsets with these lengths, or these shares, in random order."""
    total = len(dataset)
    sizes = [int(one) for one in lengths]
    if abs(sum(lengths) - 1) < 1e-9 and sum(lengths) <= 1.0000001:
        sizes = [int(total * share) for share in lengths]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
    if sum(sizes) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(total, generator=generator).tolist()
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return [Subset(dataset, order[start : start + size]) for start, size in zip(starts, sizes)]


class Sampler:
    """An order of indices."""

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __class_getitem__(cls, item: Any) -> type:
        return cls


class SequentialSampler(Sampler):
    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        super().__init__(data_source)
        self.replacement, self._count, self.generator = replacement, num_samples, generator

    def __iter__(self) -> Iterator[int]:
        size = len(self.data_source)
        if self.replacement:
            from .._creation import randint

            return iter(randint(0, size, (len(self),), generator=self.generator).tolist())
        return iter(randperm(size, generator=self.generator).tolist()[: len(self)])

    def __len__(self) -> int:
        return len(self.data_source) if self._count is None else self._count


class SubsetRandomSampler(Sampler):
    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        super().__init__(indices)
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        return (self.data_source[i] for i in randperm(len(self.data_source), generator=self.generator).tolist())

    def __len__(self) -> int:
        return len(self.data_source)


class WeightedRandomSampler(Sampler):
    def __init__(self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None) -> None:
        super().__init__(None)
        self.weights = tensor(list(weights)).double()
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        options = {} if self.generator is None else {"generator": self.generator}
        return iter(self.weights.multinomial(self.num_samples, self.replacement, **options).tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Indices in groups."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        super().__init__(None)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list]:
        batch: list = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def default_collate(batch: Sequence[Any]) -> Any:
    """One value of many samples: tensors stacked, numbers as a tensor, dictionaries and tuples by their parts."""
    first = batch[0]
    if isinstance(first, Tensor):
        return _stack(list(batch), 0)
    if isinstance(first, (int, float)):
        return tensor(list(batch))
    if hasattr(first, "__array__"):
        return tensor(list(batch))
    if isinstance(first, dict):
        return {key: default_collate([one[key] for one in batch]) for key in first}
    if isinstance(first, tuple):
        parts = [default_collate(part) for part in zip(*batch)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    if isinstance(first, list):
        return [default_collate(part) for part in zip(*batch)]
    return list(batch)


class DataLoader:
    """Batches of a dataset, in this thread: a page has no processes, so num_workers must be 0."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ) -> None:
        if num_workers:
            raise ValueError(f"DataLoader(num_workers={num_workers}): a page has no worker processes, so it must be 0")
        if pin_memory:
            raise NotImplementedError("DataLoader(pin_memory=True): there is no such memory in a page")
        self.dataset, self.batch_size, self.drop_last, self.generator = dataset, batch_size, drop_last, generator
        self.collate_fn = collate_fn or default_collate
        self._is_iterable = isinstance(dataset, IterableDataset)
        if not self._is_iterable:
            self.sampler = sampler or (RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset))
            self.batch_sampler = batch_sampler
            if batch_sampler is None and batch_size is not None:
                self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)

    def __len__(self) -> int:
        if self._is_iterable:
            raise TypeError("a DataLoader of an IterableDataset has no length")
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        if self._is_iterable:
            return self._of_iterable()
        if self.batch_sampler is None:
            return (self.dataset[index] for index in self.sampler)
        if isinstance(self.dataset, TensorDataset) and self.collate_fn is default_collate:
            # All rows of a batch in one op.
            tensors = self.dataset.tensors
            return ([one.index_select(0, tensor(batch)) for one in tensors] for batch in self.batch_sampler)
        return (self.collate_fn([self.dataset[index] for index in batch]) for batch in self.batch_sampler)

    def _of_iterable(self) -> Iterator[Any]:
        if self.batch_size is None:
            yield from self.dataset
            return
        batch: list = []
        for sample in self.dataset:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)


def get_worker_info() -> None:
    """There are no workers."""
    return None


__all__ = ["BatchSampler", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler", "Sampler"]
__all__ += ["SequentialSampler", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate"]
