class Clusters:
    now: float
    n_merges: int
    n_nodes: int
