"""The backend `tvm`, runtime half: sub-DNNs as operations of our own, which TVM compiles for the machine's processor."""
