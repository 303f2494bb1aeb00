"""HTTP. Routes parse the request, call one method and shape the answer."""
