"""With `sklearn`: our search in place of RandomizedSearchCV."""

from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from thiessen.integrations.sklearn import BiasedRandomSearchCV

search = BiasedRandomSearchCV(SVC(), {"C": loguniform(0.1, 100)}, n_iter=5, cv=3, random_state=0)
search.fit(*load_iris(return_X_y=True))
assert search.best_score_ > 0.9, search.best_score_
