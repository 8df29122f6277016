"""The gRPC doors of the estimator: a stand-in for karmada-scheduler-estimator that serves many clusters at once."""
