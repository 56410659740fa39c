class Error(Exception):
    pass


class ResetNeeded(Error):
    pass


class NameNotFound(Error):
    pass
