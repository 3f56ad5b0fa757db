"""Make a call natively first; step into its source only if a decision hides in it.

When natively run code meets a decision, every Python function between the call and the decision is marked, and the
block runs again from its start: nothing has to be undone, and a marked function is interpreted from then on.
"""

import contextlib
import functools
import inspect
import itertools
import operator
import re
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch._library.custom_ops import CustomOpDef

from dycl.rewrite import record
from dycl.rewrite.knowledge import StepInto
from dycl.rewrite.normalise import class_making, contexts, data_model, exception_groups, spreading, syntax
from dycl.rewrite.normalise.instructions import Call
from dycl.rewrite.normalise.source import has_source
from dycl.rewrite.own_code import is_own_file
from dycl.rewrite.plain_lookup import attribute
from dycl.rewrite.record.host_arrays import HostArray
from dycl.rewrite.record.host_values import HostValue, import_symbol
from dycl.rewrite.run import errors, generators
from dycl.rewrite.run.arguments import has_number_tensor, has_unknown_length, with_numbers, with_symbols
from dycl.rewrite.run.callees import Arguments, is_torch, require_plain_objects, resolve
from dycl.rewrite.run.code_inspection import note_what_it_sees, watch_state_of
from dycl.rewrite.run.contract import Interprets
from dycl.rewrite.run.entering import frame, generator
from dycl.rewrite.run.following import followed
from dycl.rewrite.run.genuine import operands
from dycl.rewrite.run.local_names import asks_for_locals, local_names
from dycl.rewrite.run.native_code import behind, mark
from dycl.rewrite.run.stepped_through import made_lazily, require_known
from dycl.rewrite.run.touching import (
    cached,
    is_cached,
    require_no_look_at_cache,
    require_not_ended,
    require_touchable,
    watch_imported,
)
from dycl.rewrite.semantics.dynamic import NOT_HANDLED, mentions
from dycl.rewrite.semantics.in_python import builtin_functions as substitutes
from dycl.rewrite.semantics.in_python import classes as class_stand_ins
from dycl.rewrite.semantics.in_python import generators as generator_calls
from dycl.rewrite.semantics.in_python.signatures import fits
from dycl.rewrite.semantics.registry import meaning
from dycl.rewrite.semantics.switches import switch_on_index
from dycl.rewrite.semantics.texts import HostText
from dycl.rewrite.signals import CheckMet, DecisionMet, Refused, Restart
from dycl.rewrite.state.frames import Frame, Generator, HostRange, ItemIterator, RangeIterator
from dycl.rewrite.state.heap import doors
from dycl.rewrite.state.stops import Stop
from dycl.rewrite.state.tables import GrownList


def call(machine: Interprets, frame: Frame, instruction: Call) -> Stop | None:
    """Make the call of an instruction, or begin to interpret it."""
    machine.recorded_before = len(machine.recorder.recording.operations)
    callee, args, kwargs = operands(machine, frame, instruction)
    generator, how, given = _driven(callee, args)
    if generator is not None:
        return _go_on(machine, generator, how, given)
    require_touchable(machine, callee, (args, kwargs))
    require_no_look_at_cache(callee)
    require_not_ended(machine, callee)
    if asks_for_locals(callee, args):
        result: Any = local_names(machine)
    else:
        result = NOT_HANDLED if _tells_itself_apart(callee) else meaning(callee, args, kwargs, machine)
    if result is NOT_HANDLED:
        stop = switch_on_index(machine, frame, instruction, callee, args)
        if stop is not None:
            return stop
        result = perform(machine, callee, (args, kwargs))
        watch_imported(machine, callee, args, result)
    if machine.heap.is_suspicious:
        machine.heap.require_unchanged()
    if result is not _PUSHED:
        frame.registers[instruction.dest] = result
        frame.position += 1
    return None


def _driven(callee: Any, args: tuple[Any, ...]) -> tuple[Generator | None, str, tuple[Any, ...]]:
    """The generator that a call goes on with, in which way, and what it gets."""
    owner = attribute(callee, "__self__")
    if isinstance(owner, Generator):
        return owner, callee.__name__, args
    if args and isinstance(args[0], Generator):
        if callee is syntax.throw:
            return args[0], "throw", args[1:]
        if callee is syntax.send_to or (callee is next and len(args) == 1):
            return args[0], "send", args[1:]
    return None, "", ()


def drop(machine: Interprets, frame: Frame, iterator: Any) -> None:
    """Let a generator that a loop has left clean up, unless the program still has it."""
    frame.position += 1
    if type(iterator) is Generator and iterator.waits_to_clean_up and not generators.is_held(machine, iterator):
        frame.position -= 1
        _push_substitute(machine, generator_calls.closed, ((iterator,), {}))


def _go_on(machine: Interprets, generator: Generator, how: str, args: tuple[Any, ...]) -> Stop | None:
    """`generator.send(value)`, `generator.throw(error)` or `generator.close()`."""
    match how:
        case "throw":
            given = [value for value in args[:2] if value is not None]
            return generators.throw(machine, generator, errors.to_raise(given[-1]))
        case "close":
            _push_substitute(machine, generator_calls.closed, ((generator,), {}))
            return None
        case _:
            return generators.resume(machine, generator, *args)


_PUSHED = object()
_OWN = (syntax, spreading, data_model, contexts, exception_groups, class_making, doors)
_OWN_FUNCTIONS = (*(module.__name__ for module in _OWN), record.__name__)


def _tells_itself_apart(callee: Any) -> bool:
    """Whether an object says itself what it equals, so that looking it up among functions would run its code."""
    cls: Any = type(callee)
    return isinstance(cls.__eq__, types.FunctionType) or isinstance(cls.__hash__, types.FunctionType)


def perform(machine: Interprets, callee: Any, arguments: Arguments) -> Any:
    """The result of a call, or `_PUSHED` if a frame now interprets it."""
    args, kwargs = arguments
    if isinstance(callee, torch.jit.ScriptFunction):
        callee = getattr(callee, "_torchdynamo_inline", callee)
    if isinstance(callee, CustomOpDef) and not torch._C.parse_schema(f"dycl::op{callee._schema}").is_mutable:
        callee = callee._init_fn
    if isinstance(callee, type):
        require_plain_objects(callee)
    if is_cached(callee):
        return cached(machine, callee, arguments)
    if isinstance(callee, type) and issubclass(callee, type) and len(args) == 3 and isinstance(args[2], dict):
        return _made_class(machine, callee, args, kwargs)
    result = NOT_HANDLED if _tells_itself_apart(callee) else made_lazily(machine, callee, args, kwargs)
    if result is NOT_HANDLED and not _tells_itself_apart(callee):
        result = _substituted(machine, callee, arguments)
    if result is not NOT_HANDLED:
        return result
    if callee is contexts.enter_context and type(attribute(args[0], "gen")) is types.GeneratorType:
        machine.contexts.callback(args[0].gen.close)
    function, arguments, purpose, constructed = resolve(callee, args, kwargs)
    is_expression = function is not None and function.__code__.co_name == "<genexpr>"
    if function is None or str(function.__module__).startswith(_OWN_FUNCTIONS) or not has_source(function.__code__):
        if is_expression:
            raise Refused("DY003", "the source of this generator expression cannot be read")
        return _builtin(machine, callee, (args, kwargs))
    if function.__code__ is _MAKES_CONTEXT_MANAGER and is_torch(function) and not machine.heap.is_suspicious:
        return _natively(machine, callee, (args, kwargs))
    # PyTorch's own generators are quick and gone through at once, unless somebody looks for what they do.
    steps = _is_interpreted(machine, function) or is_expression or not is_torch(function)
    if steps and function.__code__.co_flags & inspect.CO_GENERATOR:
        return generator(machine, function, arguments)
    owner = arguments[0][0] if arguments[0] and isinstance(arguments[0][0], nn.Module) else None
    if function.__code__ not in machine.looked_at:
        machine.looked_at.add(function.__code__)
        note_what_it_sees(function, owner, machine, set())
    stand_ins = (HostValue, HostArray, HostText, Generator, GrownList, types.TracebackType)
    if _is_interpreted(machine, function) or mentions(arguments, stand_ins):
        machine.frames.append(frame(machine, function, arguments, purpose, constructed))
        return _PUSHED
    watch_state_of(function, machine)
    return _natively(machine, callee, (args, kwargs))


def _is_interpreted(machine: Interprets, function: types.FunctionType) -> bool:
    # Where every call is looked at, those of DyCL's own functions are none of the program's.
    suspected = machine.heap.is_suspicious and not is_own_file(function.__code__.co_filename)
    return suspected or function.__code__ in machine.knowledge.interpreted


def _made_class(machine: Interprets, kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`type(name, bases, namespace)`: the class is of the module that makes it."""
    name, bases, namespace = args
    if not all(isinstance(key, str) for key in namespace):
        raise Refused("DY002", f"the class `{name}` gets attributes whose names are no texts")
    if _is_stepped_into(machine, class_stand_ins.class_called, (args, kwargs)):
        return _push_substitute(machine, class_stand_ins.class_called, ((kind, *args), kwargs))
    home = {} if "__module__" in namespace else {"__module__": machine.frames[-1].globals.get("__name__")}
    cls = _builtin(machine, kind, ((name, bases, {**namespace, **home}), kwargs))
    if isinstance(cls, type):
        machine.pinned.note_copy(cls)
    return cls


def _substituted(machine: Interprets, callee: Any, arguments: Arguments) -> Any:
    """The result of what stands in for a builtin where a native call cannot or must not be tried first."""
    args, kwargs = arguments
    substitute = substitutes.for_call(callee)
    step_by_step = (Generator, HostRange, RangeIterator, GrownList)
    iterates = substitutes.iterates(callee, args)
    if (
        substitute is not None
        and (
            substitutes.comes_first(callee, args, kwargs)
            or _is_stepped_into(machine, substitute, arguments)
            or (iterates and mentions(arguments, step_by_step))
            or (iterates and any(has_unknown_length(value) for value in args))
        )
        and fits(callee, args, kwargs)
    ):
        return _push_substitute(machine, substitute, arguments)
    return _PUSHED if begin_special(machine, callee, arguments) else NOT_HANDLED


def begin_special(machine: Interprets, callee: Any, arguments: Arguments) -> bool:
    """Begin to interpret an operator or builtin if a special method of an operand is interpreted."""
    special = substitutes.for_special_methods(callee, arguments[0], machine.knowledge.interpreted)
    if special is not None:
        _push_substitute(machine, special, arguments)
    return special is not None


@contextlib.contextmanager
def _example() -> Iterator[None]:
    yield


_MAKES_CONTEXT_MANAGER: Any = vars(type(_example))["__code__"].__get__(_example)
# A context manager made of a generator holds that generator, which must be one of the machine's.
ALWAYS_INTERPRETED: frozenset[types.CodeType] = frozenset(
    (
        _MAKES_CONTEXT_MANAGER,
        *(
            found.__code__
            for cls in contextlib._GeneratorContextManager.__mro__
            for found in vars(cls).values()
            if isinstance(found, types.FunctionType) and found.__module__ == contextlib.__name__
        ),
    )
)


def _natively(machine: Interprets, callee: Any, arguments: Arguments) -> Any:
    """Let Python make the call; if that needs a decision or fails, mark what it ran and start the block again."""
    met = DecisionMet.met
    try:
        result = followed(machine, callee, *arguments)
    except Restart:
        raise
    except (DecisionMet, CheckMet, Refused, Exception) as stopped:
        if mark(machine, stopped) or mark(machine, behind(stopped)):
            raise Restart from None
        raise
    if DecisionMet.met != met:
        raise Refused("DY001", "the code called here swallowed the request for a value that only the input determines")
    return _imported(machine, result)


def _builtin(machine: Interprets, callee: Any, arguments: Arguments, written: Arguments | None = None) -> Any:
    """Call what has no Python source; `written` are its arguments as the program has them, where those are others."""
    args, kwargs = arguments
    passed = any(type(value) is Generator for value in (*args, *kwargs.values()))
    neutral = any(callee is known for known in _NEUTRAL) or attribute(callee, "__module__") == data_model.__name__
    if passed and (filling := generator_calls.one_at_a_time(callee, args)) is not None:
        return _push_substitute(machine, filling, arguments)
    if passed and not neutral and not generator_calls.keeps(callee, args):
        if not generator_calls.consumes(callee, args):
            raise Refused("DY002", f"a generator is passed to {_told(callee)}")
        return _push_substitute(machine, generator_calls.called_with_lists, ((callee, args, kwargs), {}))
    is_operator = attribute(callee, "__module__") == operator.add.__module__
    if is_torch(callee) or (is_operator and args and isinstance(args[0], torch.Tensor | torch.Size)):
        args, kwargs = with_symbols(args), with_symbols(kwargs)
    met = DecisionMet.met
    try:
        result = followed(machine, callee, args, kwargs)
        knows_numbers = str(attribute(callee, "__module__", "")).startswith(record.__name__)
        if result is NotImplemented and not knows_numbers and mentions((callee, arguments), _LIKE_NUMBERS):
            raise Refused("DY001", f"{_told(callee)} needs a value that only the input determines")
        if DecisionMet.met != met:
            raise DecisionMet("a value that only the input determines is needed")
        if callee is getattr and type(result) is types.GeneratorType:
            return result  # somebody has it: what it does is done when it is asked
        if type(result) in _LAZY and machine.heap.untouchable((result,)) is None:
            substitute = None if type(result) is types.GeneratorType else substitutes.for_call(callee)
            result = _gone_through(machine, result, substitute is not None)
            if result is None:
                raise _from_the_beginning(machine, callee, written or arguments)
    except (DecisionMet, Exception) as error:
        decision = behind(error)
        if not isinstance(decision, DecisionMet):
            raise
        if mark(machine, decision):
            raise Restart from None
        require_known(machine, decision)
        if is_torch(callee) and has_number_tensor((args, kwargs), machine):
            return _builtin(machine, callee, with_numbers((args, kwargs), machine), arguments)
        makes_class = isinstance(callee, type) and issubclass(callee, type)
        stepped_into = makes_class or substitutes.for_call(callee) is not None
        if stepped_into and not (callee in (operator.getitem, operator.setitem) and isinstance(args[0], torch.Tensor)):
            raise _from_the_beginning(machine, callee, written or arguments) from None
        function = resolve(callee, *arguments)[0]
        if function is not None and not str(function.__module__).startswith(_OWN_FUNCTIONS):
            reason = f"a decision hides in {_told(callee)}, whose source cannot be read"
            raise decision.refusal("DY003", reason) from None
        raise decision.refusal("DY001", f"{_told(callee)} needs a value that only the input determines") from None
    return _imported(machine, result)


def _gone_through(machine: Interprets, lazy: Any, may_wait: bool) -> ItemIterator | None:
    """An iterator over all that a lazy one gives; None if it raises an error, which must wait until it is asked."""
    try:
        return machine.over(iter(lazy))
    except Exception:
        if not may_wait:
            raise
        return None


def _site(machine: Interprets, arguments: Arguments) -> StepInto:
    """The call that is being made."""
    frame = machine.frames[-1]
    kinds = tuple([(type(value).__module__, type(value).__qualname__) for value in arguments[0]])
    return StepInto(frame.function.code, frame.position, kinds)


def _is_stepped_into(machine: Interprets, substitute: Any, arguments: Arguments) -> bool:
    """Whether a call is known to meet a decision halfway; what stands in for a builtin may call that builtin."""
    function = substitute.func if isinstance(substitute, functools.partial) else substitute
    return function.__code__ is not machine.frames[-1].function.code and _site(machine, arguments) in machine.knowledge


def _from_the_beginning(machine: Interprets, callee: Any, arguments: Arguments) -> Restart | Refused:
    """Run the block again, this call stepped into: halfway it has already done something."""
    site = _site(machine, arguments)
    if site in machine.knowledge:
        return Refused("DY001", f"{_told(callee)} needs a value that only the input determines")
    machine.knowledge.learn(site)
    return Restart()


_LIKE_NUMBERS = (HostValue, operator.methodcaller)
_EMPTY: tuple[Any, ...] = ([], (), {}, {}.values(), {}.items(), set(), "", range(0))
_LAZY: tuple[type, ...] = (
    *(zip, enumerate, map, filter, reversed, types.GeneratorType),
    *map(type, map(iter, _EMPTY)),
    *(itertools.chain, itertools.islice, itertools.zip_longest, itertools.pairwise, itertools.product),
    *(itertools.combinations, itertools.permutations, itertools.combinations_with_replacement, itertools.repeat),
    type(re.finditer("", "")),
)
_NEUTRAL: tuple[Any, ...] = (
    *(getattr, setattr, hasattr, isinstance, id, iter, type, operator.is_, operator.is_not, syntax.is_generator),
    *(syntax.iterated, data_model.special, syntax.gives_items_itself, syntax.require_iterator),
    *(syntax.make_tuple, syntax.make_list, spreading.starred, operator.eq, operator.ne),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.sub, operator.and_, operator.or_, operator.xor),
    *(operator.isub, operator.iand, operator.ior, operator.ixor),
)


def _push_substitute(machine: Interprets, substitute: Any, arguments: Arguments) -> Any:
    function, bound, purpose, made = resolve(substitute, *arguments)
    assert function is not None
    if function.__code__.co_flags & inspect.CO_GENERATOR:
        return generator(machine, function, bound)
    machine.frames.append(frame(machine, function, bound, purpose, made))
    return _PUSHED


def _imported(machine: Interprets, result: Any) -> Any:
    """A native result as the machine holds it: symbols as host values, lazy iterators with their items."""
    if isinstance(result, torch.SymInt | torch.SymFloat | torch.SymBool):
        return import_symbol(result, machine.recorder)
    if type(result) is types.GeneratorType and machine.heap.untouchable((result,)) is None:
        return machine.over(result)
    require_plain_objects(type(result))
    return result


def _told(callee: Any) -> str:
    """What is called, in words of the user's program."""
    if str(attribute(callee, "__module__", "")).startswith(_OWN_FUNCTIONS):
        return _IN_WORDS.get(callee.__name__, "what Python does here")
    return f"`{attribute(callee, '__qualname__') or type(callee).__name__}`"


_IN_WORDS = {
    syntax.make_class.__name__: "making the class",
    syntax.make_set.__name__: "making the set",
    syntax.formatted.__name__: "this text",
    data_model.sequence_operation.__name__: "this operator",
}
