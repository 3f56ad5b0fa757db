"""The groups of docs/constructs.md, as users write their models."""
