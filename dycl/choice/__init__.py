"""The best backend for each sub-DNN: what each can take is measured, and what costs least is put together."""
