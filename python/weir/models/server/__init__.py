"""The server: requests that are spread over cores."""
