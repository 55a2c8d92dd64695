<<<<<<< HEAD
SIGMA = 1.1 * SIGMA
=======
SIGMA = 0.9 * SIGMA
>>>>>>> refit
