"""Each public class is a model; `refused` names the error that it is refused with, `reset` undoes what calls left."""
