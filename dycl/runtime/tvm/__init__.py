"""The backend `tvm`, runtime half: operations of our own, which TVM compiles for the machine's processor."""
