"""Which constructs of Python and PyTorch a program's source uses."""

import re

CONSTRUCTS = {
    name: re.compile(pattern, re.MULTILINE)
    for name, pattern in {
        "if": r"^ +if ",
        "if inside if": r"^( +)(?:if|elif|else).*\n(?:\1 .*\n)*?\1 {4,}if ",
        "elif": r"^ +elif ",
        "conditional expression": r" if .* else ",
        "and": r" and ",
        "or": r" or ",
        "not": r"\(not ",
        "chained comparison": r"-?\d <=? .* <=? ",
        "walrus": r":=",
        "while": r"^ +while ",
        "while with else": r"^( +)while .*\n(?:\1 .*\n)*\1else:",
        "for with else": r"^( +)for .*\n(?:\1 .*\n)*\1else:",
        "range of a host value": r" in range\(.*% ",
        "rows of a tensor": r"^ +for t\d+ in (?:\(?-?(?:x|g|h|self\.state|some)\b)",
        "zip": r" in zip\(",
        "enumerate": r" in enumerate\(",
        "reversed": r" in reversed\(",
        "break": r"^ +break$",
        "continue": r"^ +continue$",
        "early return": r"^ {12,}return ",
        "list append": r"\.append\(",
        "list index": r"(?:rows|seen)1?\[|\]\)?\[-1\]",
        "len": r"\blen\(",
        "stack": r"torch\.stack\(",
        "list iteration": r" in (?:reversed|enumerate|list)?\(?(?:rows|seen)1?\b",
        "tuple": r"pair1? = |, \w+ = |\bpair1?\[",
        "dict": r"table1? = |\{\"|table1?\[",
        "helper function": r"^def ",
        "method": r"^    def step",
        "closure": r"^ {8,}def ",
        "lambda": r"\blambda ",
        "try and finally": r"^ +finally:",
        "try and except": r"^ +except ",
        "no_grad": r"torch\.no_grad",
        "attribute": r"^ +self\.(?:state|count|done) = (?:.*\n)*.*(?:[(\[]|= ).*self\.(?:state|count|done)\b",
        "generator": r"^ +yield ",
        "generator expression": r"\(.* for \w+ in .*\)",
        "comprehension": r"[\[{].* for \w+ in .*[\]}]",
        "match": r"^ +match ",
        "module by host value": r"self\.layers\)?\[.* % 3\]",
        "floor division": r" // ",
        "modulo": r" % ",
        "division": r" / ",
        "round": r"\bround\(",
        "min or max": r"\b(?:min|max)\(",
        "abs": r"\babs\(",
        "int": r"\bint\(",
        "float": r"\bfloat\(",
        "math": r"\bmath\.",
        "None or tensor": r"best1? = |else None|is (?:not )?None|None\)",
        "any or all": r"\b(?:any|all)\(",
        "cat": r"torch\.cat\(",
        "slice by host value": r"\[(?:: ?)?[^\]\[:]* % \d ?:?\]",
        "boolean mask": r"\[[^\]]* > -?\d\]",
        "nonzero": r"\.nonzero\(",
        "topk": r"\.topk\(",
        "reshape": r"\.reshape\(",
        "transpose": r"\.(?:transpose|t)\(",
        "dtype change": r"\.(?:to\(torch|double|long|float)\b",
        "assert": r"^ +assert ",
        "raise": r"^ +raise ",
    }.items()
}


def constructs_of(source: str) -> set[str]:
    """The names of the constructs in `source`, leaving out what every model has."""
    body = source.partition("nn.Embedding(8, 6)\n")
    return {
        name for name, pattern in CONSTRUCTS.items() if pattern.search(body[0].partition("class Model")[0] + body[2])
    }
