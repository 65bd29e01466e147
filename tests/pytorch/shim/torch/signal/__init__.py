"""torch.signal."""
