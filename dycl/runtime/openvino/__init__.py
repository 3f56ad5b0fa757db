"""The backend `openvino`, runtime half: sub-DNNs in single precision, run by OpenVINO on the CPU."""
