"""Lowering of Einstein sums, whose notation is wider in PyTorch than in ONNX Runtime."""

from collections.abc import Sequence

from dycl.backends.onnx.arguments import Arguments
from dycl.backends.onnx.builder import Builder
from dycl.backends.onnx.pieces import filled, squeeze, sum_over, unless_empty
from dycl.backends.onnx.table import lowers
from dycl.backends.onnx.values import Size, Value, is_integer

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@lowers("aten.einsum.default")
def einsum(b: Builder, a: Arguments) -> Value:
    operands = [b.cast(value, a.result.dtype) for value in a.tensors("tensors")]
    terms, result = _spelled_out(a.text("equation"), [value.rank for value in operands])
    if is_integer(a.result.dtype):
        terms, operands = _summed_alone(b, terms, operands, result)
    values = list(operands)
    letters = list(dict.fromkeys(letter for term in terms for letter in term))
    if len(letters) > len(_ALPHABET):
        b.refuse("an Einstein sum over more than 26 axes")
    names = dict(zip(letters, _ALPHABET, strict=False))
    sizes = dict.fromkeys(letters, 1)
    for term, value in zip(terms, operands, strict=True):
        for letter, size in zip(term, value.shape, strict=True):
            if size != 1:
                sizes[letter] = 0
    pieces = []
    for number, (term, value) in enumerate(zip(terms, operands, strict=True)):
        # An axis of size 1 stretches to the others of its letter; without it the sum is the same.
        stretched = [axis for axis, letter in enumerate(term) if value.shape[axis] == 1 and not sizes[letter]]
        operands[number] = squeeze(b, value, stretched)
        pieces.append("".join(names[letter] for axis, letter in enumerate(term) if axis not in stretched))
    equation = f"{','.join(pieces)}->{''.join(names[letter] for letter in result)}"

    def usual() -> list[Value]:
        return [b.node("Einsum", *operands, shape=a.result.shape, equation=equation)]

    def nothing() -> list[Value]:
        lengths = {letter: _length(b, letter, terms, values) for letter in result}
        return [filled(b, 0, a.result.dtype, [lengths[letter] for letter in result])]

    return unless_empty(b, values, usual, nothing)[0]


def _summed_alone(
    b: Builder, terms: Sequence[Sequence[str]], operands: Sequence[Value], result: Sequence[str]
) -> tuple[list[list[str]], list[Value]]:
    """The terms and operands once the axes that one term alone has are summed exactly, as `Einsum` does not."""
    letters, values = [], []
    for number, (term, value) in enumerate(zip(terms, operands, strict=True)):
        others = {letter for place, other in enumerate(terms) if place != number for letter in other}
        alone = [axis for axis, letter in enumerate(term) if letter not in others and letter not in result]
        if len({term[axis] for axis in alone}) < len(alone):
            b.refuse("an Einstein sum of whole numbers along a diagonal")
        values.append(sum_over(b, value, alone, keepdim=False))
        letters.append([letter for axis, letter in enumerate(term) if axis not in alone])
    return letters, values


def _length(b: Builder, letter: str, terms: Sequence[Sequence[str]], values: Sequence[Value]) -> Size:
    """How long a letter's axis is: as long as that of any operand in which it is not 1."""
    length: Size = 1
    for term, value in zip(terms, values, strict=True):
        if letter in term:
            size = b.size_of(value, term.index(letter))
            if length == 1:
                length = size
            elif size != 1:
                known = b.number(length, "int64")
                length = b.node("Where", b.node("Equal", known, b.constant(1)), b.number(size, "int64"), known)
    return length


def _spelled_out(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """Each operand's axes and the result's, with a letter of their own for the axes that `...` stands for."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    named = [len(term.replace("...", "")) for term in terms]
    most = max(rank - count if "..." in term else 0 for term, rank, count in zip(terms, ranks, named, strict=True))
    rest = [f".{number}" for number in range(most)]
    spelled = [
        _letters(term, rest[most - (rank - count) :] if rank > count else [])
        for term, rank, count in zip(terms, ranks, named, strict=True)
    ]
    if arrow:
        return spelled, _letters(right, rest)
    everything = [letter for term in spelled for letter in term if letter not in rest]
    # Without an arrow the result has the letters that occur once, capitals first, after the axes of `...`.
    return spelled, rest + sorted(letter for letter in set(everything) if everything.count(letter) == 1)


def _letters(term: str, rest: Sequence[str]) -> list[str]:
    before, dots, after = term.partition("...")
    return [*before, *(rest if dots else []), *after]
