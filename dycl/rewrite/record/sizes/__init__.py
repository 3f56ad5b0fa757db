"""Sizes that only the input determines: rules, samples and expressions that hold for every size."""
