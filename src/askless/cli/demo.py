from askless.cli.parser import Commands


def add(commands: Commands) -> None: ...
