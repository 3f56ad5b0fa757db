"""All networks of the zoo, in the order in which they are measured."""

from dycl.zoo.images.blockdrop import BLOCKDROP
from dycl.zoo.images.mobilenet import MOBILENET
from dycl.zoo.images.ranet import RANET
from dycl.zoo.images.resnet import RESNET, WIDE_RESNET
from dycl.zoo.images.skipnet import FEED_FORWARD, RECURRENT
from dycl.zoo.images.vgg import VGG
from dycl.zoo.sequences.captioning import CAPTIONING_GOOGLENET, CAPTIONING_RESNEXT
from dycl.zoo.sequences.early_exit_encoder import EARLY_EXIT_ENCODER
from dycl.zoo.sequences.layer_skipping_decoder import LAYER_SKIPPING_DECODER
from dycl.zoo.sequences.moe_decoder import MOE_DECODER
from dycl.zoo.sequences.translation import TRANSLATION

NETWORKS = {
    network.name: network
    for network in (
        MOBILENET,
        VGG,
        RESNET,
        WIDE_RESNET,
        RECURRENT,
        FEED_FORWARD,
        CAPTIONING_RESNEXT,
        CAPTIONING_GOOGLENET,
        BLOCKDROP,
        RANET,
        TRANSLATION,
        EARLY_EXIT_ENCODER,
        MOE_DECODER,
        LAYER_SKIPPING_DECODER,
    )
}
