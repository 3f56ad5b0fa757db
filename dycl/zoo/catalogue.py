"""All networks of the zoo, in the order in which they are measured."""

from dycl.zoo.blockdrop import BLOCKDROP
from dycl.zoo.captioning import CAPTIONING_GOOGLENET, CAPTIONING_RESNEXT
from dycl.zoo.early_exit_encoder import EARLY_EXIT_ENCODER
from dycl.zoo.layer_skipping_decoder import LAYER_SKIPPING_DECODER
from dycl.zoo.mobilenet import MOBILENET
from dycl.zoo.moe_decoder import MOE_DECODER
from dycl.zoo.ranet import RANET
from dycl.zoo.resnet import RESNET, WIDE_RESNET
from dycl.zoo.skipnet import FEED_FORWARD, RECURRENT
from dycl.zoo.translation import TRANSLATION
from dycl.zoo.vgg import VGG

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
