"""What `dycl bench` measured, and what writes the documents from it. Part of a checkout only: `dycl.bench` measures."""
