"""The replaceable stages of RAMODO.

    scorer          ranks the rows, gives the loss its φ, detects in the representation   scoring.py
    ranker          the initial ranking, where it is not the scorer's own                 ensembles.py
    thresholder     split(scores, labels) -> Candidates                                   thresholding.py
    sampler         n_queries, draw(pools, n_epochs, n, batch_size, rng) -> triplets      triplets.py
    representation  first_width, head(rng) -> forward and backward                        layers.py
    loss            loss(rows, triplets) -> mean loss, gradient                           ranking_loss.py
    cutoff          cutoff(scores) -> the threshold of `predict`                          thresholding.py, conformal.py

A stage imports no other stage. `protocols.py` says what each must do and what they hand to one another; `assembling.py`
puts them together for a fit. For user-defined stages, `custom_stages.py` has defaults, `detector_as_scorer.py` wraps
detectors of other libraries, and `result_checks.py` checks what they return. A user-defined scorer or ranker needs
`fit(X)` and `score_samples(X)`, lower being more outlying, as in scikit-learn.
"""
