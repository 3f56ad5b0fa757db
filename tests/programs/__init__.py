"""Programs for the compiler: models as users write them, without types, left as they are by linter and type checker."""
