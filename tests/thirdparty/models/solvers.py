"""Solvers that stop when they are accurate enough: differential equations, fixed points, linear systems."""

import gpytorch
import torch
import torchode
from linear_operator.utils.linear_cg import linear_cg
from torch import nn
from torchdeq import get_deq
from torchdiffeq import odeint, odeint_adjoint, odeint_event

from tests.thirdparty.case import INPUTS, case


class Field(nn.Module):
    """A small learnt vector field."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))

    def forward(self, t, y):
        return self.net(y) - y


class NeuralOde(nn.Module):
    """A state carried through a learnt field by one of torchdiffeq's solvers."""

    def __init__(self, solve, **options):
        super().__init__()
        self.field = Field()
        self.solve = solve
        self.options = options

    def forward(self, y):
        return self.solve(self.field, y, torch.linspace(0.0, 1.0, 3), **self.options)


def states(count=INPUTS):
    return [(torch.randn(3, 4) * (0.2 + 0.8 * index),) for index in range(count)]


@case("torchdiffeq", "odeint, dopri5", decides="accepts or rejects each step, and its size, by the error")
def dopri5():
    return NeuralOde(odeint, method="dopri5", rtol=1e-3, atol=1e-3).double(), [(y.double(),) for (y,) in states()]


@case("torchdiffeq", "odeint_adjoint, bosh3", decides="as above, inside an autograd.Function")
def bosh3_adjoint():
    return NeuralOde(odeint_adjoint, method="bosh3", rtol=1e-3, atol=1e-3), states()


class Falling(nn.Module):
    """Constant acceleration downwards."""

    def forward(self, t, state):
        _, speed = state
        return speed, torch.full_like(speed, -9.8)


class Bounce(nn.Module):
    """When a thrown ball reaches the ground, and how fast."""

    def __init__(self):
        super().__init__()
        self.falling = Falling()

    def forward(self, height, speed):
        ground = lambda t, state: state[0].reshape(())  # noqa: E731
        time, (heights, speeds) = odeint_event(
            self.falling, (height, speed), torch.tensor(0.0), event_fn=ground, odeint_interface=odeint
        )
        return time, heights[-1], speeds[-1]


# The time of the event comes from a bisection on float32 numbers.
@case("torchdiffeq", "odeint_event", decides="when the event happens, by steps and then bisection", tolerance=1e-4)
def bouncing_ball():
    return Bounce(), [(torch.tensor([1.0 + index]), torch.tensor([0.5 * index])) for index in range(INPUTS)]


class Equilibrium(nn.Module):
    """The fixed point of a layer."""

    def __init__(self, solver):
        super().__init__()
        self.layer, self.inject = nn.Linear(4, 4), nn.Linear(4, 4)
        self.deq = get_deq(f_solver=solver, f_max_iter=20, f_tol=1e-3)

    def forward(self, x):
        injected = self.inject(x)
        solution, info = self.deq(lambda z: torch.tanh(self.layer(z) * 0.7 + injected), torch.zeros_like(x))
        return solution[-1], info


def scaled_vectors():
    return [(torch.randn(2, 4).double() * (0.2 + 0.3 * index),) for index in range(INPUTS)]


@case("torchdeq", "DEQ, fixed-point iteration", decides="after how many steps it has converged")
def fixed_point():
    return Equilibrium("fixed_point_iter").double(), scaled_vectors()


@case("torchdeq", "DEQ, Anderson", decides="after how many steps it has converged")
def anderson():
    return Equilibrium("anderson").double(), scaled_vectors()


class ConjugateGradients(nn.Module):
    """Solve a positive definite system with the solver behind gpytorch."""

    def forward(self, root, right):
        matrix = root @ root.mT + torch.eye(root.shape[-1], dtype=root.dtype)
        return linear_cg(matrix.matmul, right, max_iter=40, tolerance=1e-2, max_tridiag_iter=0)


# In double precision, since rounding grows with the condition of the system.
@case(
    "linear-operator",
    "linear_cg",
    decides="after how many steps the residual is small",
    tolerance=1e-4,
)
def conjugate_gradients():
    return ConjugateGradients(), [
        (torch.randn(32, 32).double() * (0.02 + 0.04 * index), torch.randn(32, 2).double()) for index in range(INPUTS)
    ]


class Oscillator(nn.Module):
    """Van der Pol's oscillator, the steps of each trajectory chosen by a controller of its own."""

    def __init__(self):
        super().__init__()
        term = torchode.ODETerm(self.derivative)
        controller = torchode.IntegralController(atol=1e-4, rtol=1e-4, term=term)
        self.solver = torchode.AutoDiffAdjoint(torchode.Dopri5(term=term), controller)

    def derivative(self, t, y):
        place, speed = y[..., 0], y[..., 1]
        return torch.stack((speed, 3 * (1 - place**2) * speed - place), -1)

    def forward(self, y):
        times = torch.linspace(0.0, 1.0, 4, dtype=y.dtype).repeat(y.shape[0], 1)
        solution = self.solver.solve(torchode.InitialValueProblem(y0=y, t_eval=times))
        return solution.ys, solution.status


@case("torchode", "AutoDiffAdjoint, Dopri5", decides="how many steps each trajectory takes, until all have arrived")
def oscillator():
    return Oscillator(), [(torch.randn(2, 2, dtype=torch.float64) * (0.2 + 0.2 * index),) for index in range(INPUTS)]


class Process(gpytorch.models.ExactGP):
    """A Gaussian process as gpytorch's documentation has it."""

    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.covariance(x))


class Prediction(nn.Module):
    """Mean and variance at some places, given what was seen at others."""

    def __init__(self):
        super().__init__()
        seen = torch.linspace(0.0, 1.0, 12)
        self.process = Process(seen, torch.sin(seen * 6), gpytorch.likelihoods.GaussianLikelihood())

    def forward(self, x):
        found = self.process(x)
        return found.mean, found.variance


@case("gpytorch", "ExactGP", decides="whether a matrix can be factored, and where values are out of range", paths=1)
def gaussian_process():
    return Prediction(), [(torch.rand(4),) for _ in range(INPUTS)]
