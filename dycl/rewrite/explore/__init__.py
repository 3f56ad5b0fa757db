"""Go on once for each outcome of a decision, merge equal states, tell what cannot be compiled."""
