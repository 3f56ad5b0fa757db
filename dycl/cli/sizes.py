"""Sizes and counts as a person reads them."""


def byte_count(count: int) -> str:
    """A number of bytes in the unit that suits it: 812 B, 1.5 kB, 20.3 MB."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} GB"


def counted(count: int, noun: str) -> str:
    """A count with its noun, in the plural where it needs one: 1 block, 1,200 blocks."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
