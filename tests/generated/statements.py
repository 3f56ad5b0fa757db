"""The statements of generated programs, as texts with holes; `grammar` says what a hole is.

Beside the kinds of values there are bodies. `{body}` is one statement or several, `{loop}` the same inside a loop of
its own, `{plain}` one that stays: no break, no return, no yield. `{given}` is what the function gives back, and
`{closure=f}` a nested function that the rest calls `$f`. Every loop has a bound: it goes over something finite that its
body does not make longer, or it counts.

Before each statement stands how often it is written compared with others, and where it may stand if not anywhere.
"""

import re
from dataclasses import dataclass

_TEXT = """
# 8
{grid=} = {grid}

# 6
{int=} = {int}

# 3
{int=} += {small}

# 3
{row=} = {row}

# 4
{float=} = {float}

# 2
{some=} = {some}

# 2
{strip=} = {strip}

# 2
{smooth=} = {smooth}

# 2
{flag=} = {flag}

# 3
{maybe=} = {maybe}

# 2
{pair=} = {pair}

# 3
{rows=} = {rows}

# 2
{table=} = {table}

# 2
{grid=}, {int=} = {pair}

# 2
{row=}, {row=} = {row}, {row}

# 4
{rows=}.append({row})

# 4
{table=}[{key}] = {row}

# 1
{rows=}.extend({parts})

# 3
{grid=} += {int} % 5

# 3
{grid=}.clamp_(-2, 3)

# 2
{grid=}[{int} % 4] = {row}

# 2
{grid=}[:, {small}] = {int} % 4

# 2
{grid=}.reshape(-1)[{int} % 3 : 9].relu_()

# 3
{row=} += {int} % 3

# 2
{row=}[:2].neg_()

# 2
$t = {grid}
$t += 1
{body+t:grid}

# 2
$t = {row}
$t.clamp_(0, 5)
{body+t:row}

# 3
{open=} = {open}

# 2
{open=} += {int} % 3

# 2
{open=}.reshape(-1)[1:4].neg_()

# 2
$t = {open=}.t().reshape(-1)
$t += 2
{body}

# 2
$t = {open}.squeeze(0)
$t.mul_(2)
{body}

# 2
self.array[{int} % 6] = {small}

# 1
self.array += 1

# 2
self.counts.append({int} % 3)
del self.counts[2:]

# 2
STORE["n"] += {int} % 2

# 2
self.late = {grid}

# 1
vars(self)["kept"] = {int} % 4

# 2
self.box.n, self.counts[0] = self.counts[0], self.box.n

# 1 loop
break

# 1 loop
continue

# 1 function
return {given}

# 2 generator
return

# 12 generator
yield {row}

# 2
assert {truth} or {int} % 5 != 3, "not so"

# 1
assert {int} < 60, "too much"

# 6
if {truth}:
    {body}

# 6
if {truth}:
    {body}
else:
    {body}

# 4
if {truth}:
    {body}
elif {truth}:
    {body}
elif {truth}:
    {body}
else:
    {body}

# 4 function
if {truth}:
    return {given}

# 6 loop
if {truth}:
    {body}
    break

# 10 loop
if {truth}:
    continue

# 3
if ($n := {int}) > {small}:
    {body+n:int}

# 3
if ($t := {maybe}) is not None:
    {body+t:row}

# 3
match {int} % 4:
    case 0:
        {body}
    case 1 | 2:
        {body}
    case $n if {truth+n:int}:
        {body+n:int}
    case _:
        {body}

# 2
match {int}:
    case 0 | 2 | 3:
        {body}
    case _:
        {body}

# 4
for $i in range({int} % 4):
    {loop+i:int}

# 3
for $i in range(3):
    {loop+i:int}

# 4
for $t in {grid}:
    {loop+t:row}

# 2
for $t in {some}:
    {loop+t:row}

# 3
for $i, $t in enumerate({rows}[:3]):
    {loop+i:int+t:row}

# 3
for $t in reversed({rows}):
    {loop+t:row}

# 3
for $s, $t in zip({grid}, {rows}):
    {loop+s:row+t:row}

# 1
for $t, $i in zip(list({rows}), range(3)):
    {loop+t:row+i:int}

# 2
for $f in self.layers:
    {loop+f:linear}

# 1
for $t in {parts}:
    {loop+t:row}

# 2
for $t in {generator}({grid}, {int}):
    {loop+t:row}

# 3
$n = {int} % 5
while $n > 0:
    $n -= 1
    {loop+n:int}

# 3
$n = 3
while $n and {truth}:
    $n -= 1
    {loop+n:int}
else:
    {body}

# 2
$n = 0
while True:
    $n += 1
    if $n > 3 or {truth}:
        break
    {loop+n:int}

# 3
for $i in range(3):
    {body+i:int}
    if {truth+i:int}:
        break
else:
    {body}

# 4
{closure=f}
{body+f:stage}
{grid=} = $f({grid}, {int})

# 2
$f = lambda t, k=1: {grid} if {truth} else t
{grid=} = $f({grid})
{body+f:stage}

# 4
try:
    {body}
finally:
    {plain}

# 3
try:
    {body}
    if {truth}:
        raise Fault("left")
    {body}
except Fault:
    {body}

# 1
try:
    {body}
    if {truth}:
        raise ValueError
except (ValueError, IndexError):
    {body}
else:
    {body}
finally:
    {plain}

# 3
try:
    {int=} = {int} // {int}
    {row=} = {table}[{key}]
except (ZeroDivisionError, KeyError):
    {body}

# 2
try:
    {body}
    {row=} = {rows}[{int} % 3]
except LookupError as $e:
    {int=} = len($e.args)
    {body}

# 2
if {truth} and {int} % 3 == 1:
    raise ValueError("no way on")

# 1
if {int} > 20:
    raise Fault("too much")

# 4
with torch.no_grad():
    {body}
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, its weight, and where it may stand: in a `loop`, `function` or `generator`, or `anywhere`."""

    text: str
    weight: int
    place: str

    @property
    def is_compound(self) -> bool:
        """Whether other statements stand inside it."""
        return "\n" in self.text


STATEMENTS = tuple(
    Statement(text.strip("\n"), int(weight), place or "anywhere")
    for weight, place, text in re.findall(r"^# (\d+) ?(\w*)\n(.*?)(?=^# |\Z)", _TEXT, re.MULTILINE | re.DOTALL)
)
