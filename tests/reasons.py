"""Checks of scikit-learn's that are refused here, and why."""

_CLASSES = (
    "gives y the classes 0, 1, 2 and more; here y says what is known of a row: 1 outlier, -1 inlier, 0 unknown, and a "
    "label that means nothing must not pass silently"
)
OBJECTS = (
    "fits a matrix of dtype object; such a matrix is refused, since only its owner knows how its entries become numbers"
)

REASONS = {
    "check_fit_score_takes_y": _CLASSES,
    "check_estimators_overwrite_params": _CLASSES,
    "check_dont_overwrite_parameters": _CLASSES,
    "check_estimators_fit_returns_self": _CLASSES,
    "check_readonly_memmap_input": _CLASSES,
    "check_n_features_in_after_fitting": _CLASSES,
    "check_positive_only_tag_during_fit": _CLASSES,
    "check_estimators_dtypes": _CLASSES,
    "check_estimator_sparse_tag": _CLASSES,
    "check_estimator_sparse_array": _CLASSES,
    "check_estimator_sparse_matrix": _CLASSES,
    "check_f_contiguous_array_estimator": _CLASSES,
    "check_classifier_data_not_an_array": _CLASSES,
    "check_methods_sample_order_invariance": _CLASSES,
    "check_methods_subset_invariance": _CLASSES,
    "check_fit2d_1feature": _CLASSES,
    "check_dict_unchanged": _CLASSES,
    "check_fit2d_predict1d": _CLASSES,
    "check_dtype_object": OBJECTS,
}
