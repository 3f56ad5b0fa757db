"""How many states of a kind there may be before the explorer reacts."""

# A loop that makes something grow shows as many states at one program point.
VARIANTS_BEFORE_DIMENSIONS_WIDEN = 4
VARIANTS_BEFORE_GROWTH = 1
VARIANTS_BEFORE_LISTS_GROW = 6
VARIANTS_OF_A_LIST = 3  # as a loop begins, as it goes on, and once on the way
VARIANTS_BEFORE_EXACT = 32
MOST_EXACT_VARIANTS = 128
MOST_VARIANTS = 100
MOST_KINDS_OF_STATE = 16
MOST_BLOCKS = 10_000
