"""The backend `ncnn`, runtime half: sub-DNNs of float32 maps as ncnn nets, which pass each other their packed maps."""
