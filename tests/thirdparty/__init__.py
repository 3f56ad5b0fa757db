"""Models of other people's packages, compiled as they are: `make test-thirdparty`, in an environment of its own."""
