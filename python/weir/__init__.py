from weir._weir import __version__
