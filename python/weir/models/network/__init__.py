"""The network: packets through routers with finite queues, under several disciplines."""
